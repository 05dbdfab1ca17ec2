import type { Db } from '../../../db/db.ts'
import { oneWithIndexLookups, oneWithOrderedLookups } from '../../../db/planner-settings.ts'
import { type Places, statement } from '../../../db/statement.ts'
import { byNetworkId } from '../by-network-id.sql.ts'
import {
  type DeliveryOfRow,
  type EventBatch,
  eventParameters,
  eventValues,
  type InsertEventsSql,
  withEvents,
} from '../event-batch.sql.ts'

/** Finds the messages that our senders sent with these WhatsApp IDs. */
export const findSentMessages = (
  db: Db,
  quoted: readonly { senderId: string; waMessageId: string }[],
): Promise<{ senderId: string; waMessageId: string; id: string; templateId: string | null }[]> =>
  oneWithIndexLookups(db, (tx) =>
    tx.rows(
      `select m.sender_id as "senderId", m.wa_message_id as "waMessageId", m.id, m.template_id as "templateId"
       from unnest($1::uuid[], $2::text[]) as q(sender_id, wa_message_id)
       join messages m on m.sender_id = q.sender_id and m.wa_message_id = q.wa_message_id`,
      [quoted.map((each) => each.senderId), quoted.map((each) => each.waMessageId)],
    ),
  )

/** The message was imported, and has no event. */
export const isPast = "m.content ->> 'past' is not null"

/** Which of these messages are stored, among the recent or the older ones. */
export const findReceivedMessages = (
  db: Db,
  named: readonly { senderId: string; waMessageId: string }[],
): Promise<{ senderId: string; waMessageId: string; id: string; isPast: boolean }[]> =>
  oneWithOrderedLookups(db, (tx) =>
    tx.rows(
      `select m.sender_id as "senderId", m.wa_message_id as "waMessageId", m.id, ${isPast} as "isPast"
       from unnest($1::uuid[], $2::text[]) as q(sender_id, wa_message_id)
       cross join lateral ${byNetworkId('inbound_messages', 'q.sender_id', 'q.wa_message_id')} as m`,
      [named.map((each) => each.senderId), named.map((each) => each.waMessageId)],
    ),
  )

export interface InboundRow {
  id: string
  workspaceId: string
  senderId: string
  waMessageId: string
  sentBy: string | null
  sentByUserId: string | null
  profileName: string | null
  type: string
  receivedAt: Date
  quotedWaMessageId: string | null
  content: object
  /** Where the business wrote it. Null: the person wrote it. */
  source: string | null
}

/** The file of a message, as `files/received.ts` stores it. */
interface FileRow {
  id: string
  workspaceId: string
  messageId: string
  senderId: string
  fileName: string
  mimeType: string
  source: object
}

/** The files of those messages that are new, and until when the network has them. */
export interface FileBatch {
  rows: readonly FileRow[]
  tryUntil: Date
}

/** The CTE that inserts the files of the messages in `stored`. */
type InsertFilesSql = (files: string, stored: string, places: { now: string; tryUntil: string }) => string

/** A new message. */
interface StoredRow extends DeliveryOfRow {
  messageId: string
}

const rowColumns = {
  id: 'uuid',
  workspaceId: 'uuid',
  senderId: 'uuid',
  waMessageId: 'text',
  sentBy: 'text',
  sentByUserId: 'text',
  profileName: 'text',
  type: 'text',
  receivedAt: 'timestamptz',
  quotedWaMessageId: 'text',
  content: 'json',
} as const

/** Options of a statement: the type of its events, and the columns that only some messages have. */
const received = { eventType: 'message.received', columns: '', values: '' } as const
const echoed = { eventType: 'message.echoed', columns: ', source', values: ', n.source' } as const

/**
 * Stores messages and, for each new one, its event and deliveries, in one statement: nearly the whole cost of a typical
 * webhook. A duplicate message is ignored. Rows are inserted in order, to prevent deadlocks between batches. If `onlyAt` is
 * given and is not the current routing revision, nothing is stored. Messages without files have a statement of their own,
 * so that they do not pay for them.
 */
export function saveInboundStatement(
  insertEventsSql: InsertEventsSql,
  insertFilesSql: InsertFilesSql,
  fileColumns: { readonly [Name in keyof FileRow]: 'uuid' | 'text' | 'json' },
) {
  const parameters = {
    ...eventParameters,
    onlyAt: 'bigint',
    arrivals: { ...rowColumns, eventId: 'uuid', body: 'bytea' },
  } as const
  const write = (
    { arrivals, onlyAt, ...places }: Places<typeof parameters>,
    { eventType, columns, values }: typeof received | typeof echoed,
    filesSql: (now: string) => string,
  ) => `with new as materialized (
       select arrivals.* from routing_revision r, ${arrivals} where r.value = coalesce(${onlyAt}, r.value)
     ), stored as (
       insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, sent_by_user_id, profile_name,
         type, received_at, recorded_at, content, quoted_wa_message_id${columns})
       select n.id, n.workspace_id, n.sender_id, n.wa_message_id, n.sent_by, n.sent_by_user_id, n.profile_name,
         n.type, n.received_at, ${places.createdAt}, n.content, n.quoted_wa_message_id${values}
       from new n
       order by n.sender_id, n.wa_message_id
       on conflict (sender_id, wa_message_id) do nothing
       returning id
     ), ${filesSql(places.createdAt)} fresh as materialized (
       select n.event_id as id, n.workspace_id, '${eventType}' as type, n.body, n.id as message_id, n.sender_id,
         coalesce(n.sent_by, n.sent_by_user_id) as person
       from new n join stored s on s.id = n.id
     ), ${insertEventsSql('fresh', places)}
     select f.message_id as "messageId", d.event_id as "eventId", d.webhook_id as "webhookId", d.leased,
       d.conversation
     from fresh f left join new_deliveries d on d.event_id = f.id`
  const storing = statement(parameters, (places) => write(places, received, () => ''))
  const withFiles = { ...parameters, files: fileColumns, tryUntil: 'timestamptz' } as const
  const storingWithFiles = statement(withFiles, ({ files, tryUntil, ...places }) =>
    write(places, received, (now) => `${insertFilesSql(String(files), 'stored', { now, tryUntil })},`),
  )
  const storingEchoes = statement(
    { ...withFiles, arrivals: { ...parameters.arrivals, source: 'text' } },
    ({ files, tryUntil, ...places }) =>
      write(places, echoed, (now) => `${insertFilesSql(String(files), 'stored', { now, tryUntil })},`),
  )
  return (
    db: Db,
    rows: readonly InboundRow[],
    events: EventBatch,
    files: FileBatch,
    onlyAt: number | null,
  ): Promise<StoredRow[]> => {
    const values = { arrivals: withEvents(rows, events), ...eventValues(events), onlyAt }
    if (rows.some(({ source }) => source !== null)) {
      return storingEchoes.rows(db, { ...values, files: files.rows, tryUntil: files.tryUntil })
    }
    return files.rows.length === 0
      ? storing.rows(db, values)
      : storingWithFiles.rows(db, { ...values, files: files.rows, tryUntil: files.tryUntil })
  }
}

/**
 * `insert` stores past messages without events, where they belong in time, and ignores stored ones. `fill` puts the files into
 * messages that came without them before. `take` marks past messages as live, each once. They return the IDs of what changed.
 */
export function savePastStatement(
  insertFilesSql: InsertFilesSql,
  fileColumns: { readonly [Name in keyof FileRow]: 'uuid' | 'text' | 'json' },
  hasFileSql: (messageId: string) => string,
) {
  const parameters = {
    past: { ...rowColumns, source: 'text' },
    files: fileColumns,
    now: 'timestamptz',
    tryUntil: 'timestamptz',
  } as const
  const storing = (write: (places: Places<typeof parameters>) => string) => {
    const { rows } = statement(parameters, write)
    return async (db: Db, past: readonly InboundRow[], files: FileBatch, now: Date): Promise<string[]> => {
      const stored = await rows<{ id: string }>(db, { past, files: files.rows, tryUntil: files.tryUntil, now })
      return stored.map(({ id }) => id)
    }
  }
  const insert = storing(
    ({ past, files, now, tryUntil }) => `with stored as (
       insert into inbound_messages (${past.columns}, recorded_at)
       select past.*, least(past.received_at, ${now}) from ${past}
       order by past.sender_id, past.wa_message_id
       on conflict (sender_id, wa_message_id) do nothing
       returning id
     ), ${insertFilesSql(String(files), 'stored', { now, tryUntil })}
     select id from stored`,
  )
  const fill = storing(
    ({ past, files, now, tryUntil }) => `with stored as (
       update inbound_messages m set type = past.type,
         content = case when ${isPast} then past.content else (past.content::jsonb - 'past')::json end
       from ${past}
       where m.id = past.id and m.workspace_id = past.workspace_id and m.type = 'unsupported'
         and m.content #>> '{unsupported,type}' = 'media_placeholder'
       returning m.id
     ), ${insertFilesSql(String(files), 'stored', { now, tryUntil })}
     select id from stored`,
  )
  // Locked in order, to prevent deadlocks. A row that another transaction has taken is not past any more.
  const take = storing(
    ({ past, files, now, tryUntil }) => `with live as materialized (
       select past.* from ${past}
     ), locked as materialized (
       select m.id from inbound_messages m where m.id = any(array(select id from live)) and ${isPast}
       order by m.id for update
     ), stored as (
       update inbound_messages m set type = live.type, source = live.source, sent_by = coalesce(live.sent_by, m.sent_by),
         sent_by_user_id = coalesce(live.sent_by_user_id, m.sent_by_user_id),
         profile_name = coalesce(live.profile_name, m.profile_name),
         quoted_wa_message_id = live.quoted_wa_message_id,
         content = (live.content::jsonb || jsonb_strip_nulls(jsonb_build_object('status', m.content -> 'status')))::json
       from live join locked using (id)
       where m.id = live.id and m.workspace_id = live.workspace_id
       returning m.id
     ), without_file as (
       select id from stored s where not ${hasFileSql('s.id')}
     ), ${insertFilesSql(String(files), 'without_file', { now, tryUntil })}
     select id from stored`,
  )
  return { insert, fill, take }
}

export const currentRevision = async (db: Db): Promise<number> =>
  (await db.first<{ value: number }>('select value from routing_revision'))?.value ?? 0
