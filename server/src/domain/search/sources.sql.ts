import type { Db } from '../../db/db.ts'

/** Reads what is searched: the contents of messages, orders and forms, which are tables of other nouns. */

export const kinds = ['message', 'inbound', 'order', 'form'] as const
export type Kind = (typeof kinds)[number]

interface Source {
  table: string
  time: string
  title: string
  /** What is searched, and shown with a result. For forms, JSON. */
  text: string
  number: string
  userId: string
  name: string
}

const sources: Readonly<Record<Kind, Source>> = {
  message: {
    table: 'messages',
    time: 'created_at',
    title: `'To ' || case when recipient ~ '^[0-9]' then '+' || recipient when recipient = '' then 'an erased contact' else recipient end`,
    text: `concat_ws(' · ', content #>> '{request,text,body}', content #>> array['request', type, 'caption'],
      content #>> '{request,interactive,body,text}', content #>> '{request,location,name}',
      content #>> '{request,document,filename}', content #>> '{request,contacts,0,name,formatted_name}',
      (select string_agg(v.value, ' ') from json_each_text(case
         when json_typeof(content #> '{request,template,variables}') = 'object'
         then content #> '{request,template,variables}' end) as v), reference)`,
    number: `case when recipient ~ '^[0-9]' then recipient end`,
    userId: 'recipient_user_id',
    name: 'null::text',
  },
  inbound: {
    table: 'inbound_messages',
    time: 'recorded_at',
    title: `'From ' || coalesce(profile_name, '+' || sent_by, sent_by_user_id, 'an unknown number')`,
    text: `concat_ws(' · ', content ->> 'text', content #>> '{location,name}', content #>> '{location,address}',
      content #>> '{media,filename}', content #>> '{order,text}', content #>> '{contacts,0,name}')`,
    number: 'sent_by',
    userId: 'sent_by_user_id',
    name: 'profile_name',
  },
  order: {
    table: 'orders',
    time: 'created_at',
    title: `'Order from ' || coalesce(profile_name, '+' || sent_by, sent_by_user_id, 'an unknown number')`,
    text: `concat_ws(' · ', note, (select string_agg(i ->> 'product_id', ', ') from json_array_elements(items) as i),
      total || ' ' || currency)`,
    number: 'sent_by',
    userId: 'sent_by_user_id',
    name: 'profile_name',
  },
  form: {
    table: 'flow_responses',
    time: 'created_at',
    title: `'Form from ' || coalesce('+' || sent_by, sent_by_user_id, 'an unknown number')`,
    text: `json_build_array(response, flow_token)::text`,
    number: 'sent_by',
    userId: 'sent_by_user_id',
    name: 'null::text',
  },
}

/** The beginning of a content that is searched. A form is read completely, because a part of it is not JSON. */
const textOf = (kind: Kind): string => (kind === 'form' ? sources.form.text : `left(${sources[kind].text}, 4000)`)

export interface Identified {
  workspaceId: string
  id: string
}

export interface IdRange {
  /** Later than this one. */
  after: string
  /** Before this one. */
  until: string
  take: number
}

/** The IDs of a range, in its order or from its end. Of all workspaces. */
export const idsBetween = (
  db: Db,
  kind: Kind,
  { after, until, take }: IdRange,
  order: 'asc' | 'desc',
): Promise<Identified[]> =>
  db.rows(
    `select workspace_id as "workspaceId", id from ${sources[kind].table} where id > $1 and id < $2
     order by id ${order} limit $3::int`,
    [after, until, take],
  )

export interface Person {
  number: string | null
  userId: string | null
  name: string | null
}

export interface Found extends Identified, Person {
  title: string
  text: string
}

const columnsOf = (kind: Kind): string => {
  const { title, number, userId, name } = sources[kind]
  return `workspace_id as "workspaceId", id, ${title} as title, ${textOf(kind)} as text, ${number} as number,
    ${userId} as "userId", ${name} as name`
}

export const objectsById = (db: Db, kind: Kind, ids: readonly string[]): Promise<Found[]> =>
  db.rows(`select ${columnsOf(kind)} from ${sources[kind].table} where id = any($1::uuid[])`, [ids])

/** The objects of a workspace with IDs in these ranges. */
export const objectsInRanges = (
  db: Db,
  kind: Kind,
  workspaceId: string,
  ranges: readonly { first: string; last: string }[],
): Promise<Found[]> =>
  db.rows(
    `select found.* from unnest($2::uuid[], $3::uuid[]) as range(first, last) cross join lateral (
       select ${columnsOf(kind)} from ${sources[kind].table}
       where workspace_id = $1 and id >= range.first and id <= range.last
       -- In the order of the primary key, so that PostgreSQL reads it and no other index.
       order by id limit 10) as found`,
    [workspaceId, ranges.map(({ first }) => first), ranges.map(({ last }) => last)],
  )

export interface Newest extends Found {
  /** Whether this object is the last one that was read. */
  isLast: boolean
}

/** Of the newest objects of a workspace, those after an ID, newest first. */
export const newestAfter = (
  db: Db,
  kind: Kind,
  { workspaceId, after, look }: { workspaceId: string; after: string; look: number },
): Promise<Newest[]> => {
  const { table, time } = sources[kind]
  return db.rows(
    `select found.*, newest.n = $3::int as "isLast" from (
       select id as newest_id, row_number() over (order by ${time} desc, id desc) as n
       from ${table} where workspace_id = $1 order by ${time} desc, id desc limit $3::int
     ) as newest
     cross join lateral (select ${columnsOf(kind)} from ${table} where workspace_id = $1 and id = newest_id) as found
     where newest_id > $2::uuid order by newest.n`,
    [workspaceId, after, look],
  )
}

/** The orders and forms that arrived as these messages. */
export const objectsOfMessages = (
  db: Db,
  messageIds: readonly string[],
): Promise<(Identified & { kind: 'order' | 'form' })[]> =>
  db.rows(
    `select 'order' as kind, workspace_id as "workspaceId", id from orders where message_id = any($1::uuid[])
     union all
     select 'form', workspace_id, id from flow_responses where message_id = any($1::uuid[])`,
    [messageIds],
  )

/** Which of these numbers of a workspace have no messages. */
export const numbersWithoutMessages = async (
  db: Db,
  workspaceId: string,
  numbers: readonly string[],
): Promise<string[]> =>
  (
    await db.rows<{ number: string }>(
      `select number from unnest($2::text[]) as n(number)
       where not exists (select from messages where workspace_id = $1 and recipient = number)
         and not exists (select from inbound_messages where workspace_id = $1 and sent_by = number)`,
      [workspaceId, numbers],
    )
  ).map(({ number }) => number)

/** The latest names of these numbers. */
export const namesOf = (
  db: Db,
  workspaceId: string,
  numbers: readonly string[],
): Promise<{ number: string; name: string }[]> =>
  db.rows(
    `select number, found.name from unnest($2::text[]) as n(number) cross join lateral (
       select profile_name as name from inbound_messages where workspace_id = $1 and sent_by = number
       order by recorded_at desc, id desc limit 1) as found
     where found.name is not null`,
    [workspaceId, numbers],
  )
