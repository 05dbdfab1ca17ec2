/** The contacts of a workspace are those it exchanged messages with: no table lists them. */
import { unreadMax } from '@parley/contract/console/contacts'
import type { Db } from '../../../db/db.ts'
import type { Position } from '../../../lib/key-set.ts'
import { type KnownPerson, personValues } from '../../../whatsapp/incoming/split-by-person.ts'
import { isPast } from '../receiving/inbound.sql.ts'
import { type MessageListRow, receivedTable, sentTable } from './console-list.sql.ts'

/** A message, and who it was exchanged with: a number, or a user ID without one. Null if the person was erased. */
export interface ContactMessage extends Position {
  person: string | null
}

/** The newest messages in both directions, older than `before`. */
export const newestMessages = (
  db: Db,
  workspaceId: string,
  before: Position | null,
  take: number,
): Promise<ContactMessage[]> => {
  const each = (table: string, time: string, person: string) =>
    `(select ${time} as at, id, ${person} as person from ${table}
      where workspace_id = $1 ${before ? `and (${time}, id) < ($3::timestamptz, $4::uuid)` : ''}
      order by ${time} desc, id desc limit $2::int)`
  return db.rows(
    `select * from (${each('messages', 'created_at', "nullif(recipient, '')")} union all
       ${each('inbound_messages', 'recorded_at', 'coalesce(sent_by, sent_by_user_id)')}) as newest
     order by at desc, id desc limit $2::int`,
    [workspaceId, take, ...(before ? [before.at, before.id] : [])],
  )
}

/** Two subqueries, for a number and for a user ID, so that each can use its index. A person is only one of them, so the other finds nothing. */
const receivedFrom = (columns: string, more: string) =>
  ['m.sent_by = p.person', 'm.sent_by is null and m.sent_by_user_id = p.person']
    .map((isFrom) => `(select ${columns} from inbound_messages m where m.workspace_id = $1 and ${isFrom} ${more})`)
    .join(' union all ')

/** Which of these people have a message that is newer than, or at, this position. */
export const peopleSince = async (
  db: Db,
  workspaceId: string,
  people: readonly string[],
  { at, id }: Position,
): Promise<Set<string>> => {
  const rows = await db.rows<{ person: string }>(
    `select p.person from unnest($2::text[]) as p(person) where exists (
       select from messages m where m.workspace_id = $1 and m.recipient = p.person
         and (m.created_at, m.id) >= ($3::timestamptz, $4::uuid))
     or exists (${receivedFrom('1', 'and (m.recorded_at, m.id) >= ($3::timestamptz, $4::uuid)')})`,
    [workspaceId, people, at, id],
  )
  return new Set(rows.map(({ person }) => person))
}

/** The newest message with each of these people. */
export const lastMessages = (db: Db, workspaceId: string, people: readonly string[]): Promise<ContactMessage[]> =>
  db.rows(
    `select last.at, last.id, p.person from unnest($2::text[]) as p(person) cross join lateral (
       (select m.created_at as at, m.id from messages m where m.workspace_id = $1 and m.recipient = p.person
        order by m.created_at desc, m.id desc limit 1)
       union all ${receivedFrom('m.recorded_at, m.id', 'order by m.recorded_at desc, m.id desc limit 1')}
       order by at desc, id desc limit 1) as last`,
    [workspaceId, people],
  )

/** Messages by their IDs, as lists show them. */
export const messagesById = (db: Db, workspaceId: string, ids: readonly string[]): Promise<MessageListRow[]> => {
  const each = ({ name, columns }: typeof sentTable | typeof receivedTable) =>
    `select ${columns} from ${name} where workspace_id = $1 and id = any($2::uuid[])`
  return db.rows(`${each(sentTable)} union all ${each(receivedTable)}`, [workspaceId, ids])
}

export interface ContactState {
  person: string
  unread: number
  /** When they wrote the last private message. */
  writtenAt: Date | null
  username: string | null
}

/**
 * A message is unread if the person wrote it after the business last wrote to them, and after someone last opened the
 * conversation. Imported past messages count as read.
 */
export const contactStates = (db: Db, workspaceId: string, people: readonly string[]): Promise<ContactState[]> =>
  db.rows(
    `select p.person, state.* from unnest($2::text[]) as p(person)
     cross join lateral (
       select greatest('-infinity',
         (select max(r.read_at) from contact_reads r where r.workspace_id = $1 and r.person in (p.person, '')),
         (select m.created_at from messages m where m.workspace_id = $1 and m.recipient = p.person
          order by m.created_at desc, m.id desc limit 1)) as at
     ) as seen
     cross join lateral (
       select count(*) filter (where n.is_new and n.at > greatest(seen.at, n.echoed_at))::int as unread,
         max(n.written_at) as "writtenAt", (array_agg(n.username order by n.at desc) filter (where n.username is not null))[1] as username
       from (
         select m.recorded_at as at, m.source is null and not (${isPast}) as is_new, m.content ->> 'username' as username,
           max(m.recorded_at) filter (where m.source is not null) over () as echoed_at,
           case when m.source is null and m.content ->> 'groupId' is null then m.received_at end as written_at
         from (${receivedFrom('m.*', `order by m.recorded_at desc, m.id desc limit ${unreadMax}`)}) as m
       ) as n
     ) as state`,
    [workspaceId, people],
  )

/** Until when conversations are read. An empty person: all conversations of the workspace. */
export const saveRead = (db: Db, workspaceId: string, people: readonly string[], at: Date): Promise<number> =>
  db.change(
    `insert into contact_reads as r (workspace_id, person, read_at)
     select $1, person, $3 from unnest($2::text[]) as p(person) order by person
     on conflict (workspace_id, person) do update set read_at = excluded.read_at where r.read_at < excluded.read_at`,
    [workspaceId, people, at],
  )

/** A number of a person who is named by user ID may be another person's by now. */
const isReadOfPerson = 'workspace_id = $1 and (person = any($3::text[]) or ($4 and person = any($2::text[])))'

export const readsOf = (db: Db, person: KnownPerson) =>
  db.rows<{ person: string; read_at: Date }>(
    `select person, read_at from contact_reads where ${isReadOfPerson} order by read_at, person`,
    personValues(person),
  )

export const deleteReadsOf = (db: Db, person: KnownPerson): Promise<number> =>
  db.change(`delete from contact_reads where ${isReadOfPerson}`, personValues(person))
