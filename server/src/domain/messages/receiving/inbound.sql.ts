import { byteStrings, jsons, texts, times, uuids } from '../../../db/array-format.ts'
import type { Db } from '../../../db/db.ts'
import type { AtRevision } from '../../../db/revisioned-cache.ts'

/** Where a payload of the network belongs: one of our numbers, connected through the app that posted it. */
export interface Destination {
  appId: string
  phoneNumberId: string
  senderId: string
  workspaceId: string
}

/** With the routing revision at which they were read. */
export const destinationsOf = (
  db: Db,
  numbers: readonly { appId: string; phoneNumberId: string }[],
): Promise<AtRevision<Destination>[]> =>
  db.rows(
    `select r.value as revision, s.app_id as "appId", s.phone_number_id as "phoneNumberId", s.id as "senderId",
       s.workspace_id as "workspaceId"
     from routing_revision r left join (unnest($1::uuid[], $2::text[]) as n(app_id, phone_number_id)
       join senders s on s.app_id = n.app_id and s.phone_number_id = n.phone_number_id) on true`,
    [numbers.map((number) => number.appId), numbers.map((number) => number.phoneNumberId)],
  )

/** Which of these ids of the network are messages that a sender of ours sent, and their ids here. */
export const sentAmong = (
  db: Db,
  quoted: readonly { senderId: string; waMessageId: string }[],
): Promise<{ senderId: string; waMessageId: string; id: string }[]> =>
  db.rows(
    `select m.sender_id as "senderId", m.wa_message_id as "waMessageId", m.id
     from unnest($1::uuid[], $2::text[]) as q(sender_id, wa_message_id)
     join messages m on m.sender_id = q.sender_id and m.wa_message_id = q.wa_message_id`,
    [quoted.map((each) => each.senderId), quoted.map((each) => each.waMessageId)],
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
}

/** A message that was new, with a delivery of its event; all but the message's id null where nobody listens. */
export interface KeptRow {
  messageId: string
  eventId: string | null
  webhookId: string | null
  leased: boolean | null
}

/** Their events, and the lease under which the deliveries are written. */
export interface Telling {
  createdAt: Date
  rows: readonly { id: string; body: Buffer }[]
  lease: { until: Date; token: string | null; except: readonly string[] }
}

/** Where the statement has what the parts that keep events need. */
export const eventPlaces = {
  events: 'fresh',
  createdAt: '$10',
  leaseUntil: '$14',
  leaseToken: '$15',
  leaseExcept: '$18',
}

/**
 * Keeps each message of the network once, and with each that is new its event and deliveries: one statement, which is
 * nearly all that an ordinary webhook costs. In order, so that two batches never wait in a circle. With `onlyAt` nothing is
 * kept unless that is the routing revision.
 */
export const keepingWith = (eventParts: string): string => `with new as materialized (
       select n.* from routing_revision r, unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[],
         $7::text[], $8::text[], $9::timestamptz[], $11::json[], $12::uuid[], $13::bytea[], $17::text[])
         as n(id, workspace_id, sender_id, wa_message_id, sent_by, sent_by_user_id, profile_name, type, received_at, content,
           event_id, body, quoted_wa_message_id)
       where r.value = coalesce($16, r.value)
     ), kept as (
       insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, sent_by_user_id, profile_name,
         type, received_at, recorded_at, content, quoted_wa_message_id)
       select n.id, n.workspace_id, n.sender_id, n.wa_message_id, n.sent_by, n.sent_by_user_id, n.profile_name,
         n.type, n.received_at, $10::timestamptz, n.content, n.quoted_wa_message_id
       from new n
       order by n.sender_id, n.wa_message_id
       on conflict (sender_id, wa_message_id) do nothing
       returning id
     ), fresh as materialized (
       select n.event_id as id, n.workspace_id, 'message.received' as type, n.body, n.id as message_id
       from new n join kept k on k.id = n.id
     ), ${eventParts}
     select f.message_id as "messageId", h.event_id as "eventId", h.webhook_id as "webhookId", h.leased
     from fresh f left join handed h on h.event_id = f.id`

export const keepWithEvents = (
  db: Db,
  keeping: string,
  rows: readonly InboundRow[],
  { createdAt, rows: events, lease }: Telling,
  onlyAt: number | null,
): Promise<KeptRow[]> =>
  db.rows(keeping, [
    uuids(rows.map((row) => row.id)),
    uuids(rows.map((row) => row.workspaceId)),
    uuids(rows.map((row) => row.senderId)),
    texts(rows.map((row) => row.waMessageId)),
    texts(rows.map((row) => row.sentBy)),
    texts(rows.map((row) => row.sentByUserId)),
    texts(rows.map((row) => row.profileName)),
    texts(rows.map((row) => row.type)),
    times(rows.map((row) => row.receivedAt)),
    createdAt,
    jsons(rows.map((row) => JSON.stringify(row.content))),
    uuids(events.map((event) => event.id)),
    byteStrings(events.map((event) => event.body)),
    lease.until,
    lease.token,
    onlyAt,
    texts(rows.map((row) => row.quotedWaMessageId)),
    uuids(lease.except),
  ])

export const currentRevision = async (db: Db): Promise<number> =>
  (await db.first<{ value: number }>('select value from routing_revision'))?.value ?? 0
