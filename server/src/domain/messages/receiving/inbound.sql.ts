import type { Db } from '../../../db/db.ts'
import { statement } from '../../../db/statement.ts'

/** Which of these ids of the network are messages that a sender of ours sent, and their ids here. */
export const sentAmong = (
  db: Db,
  quoted: readonly { senderId: string; waMessageId: string }[],
): Promise<{ senderId: string; waMessageId: string; id: string; templateId: string | null }[]> =>
  db.rows(
    `select m.sender_id as "senderId", m.wa_message_id as "waMessageId", m.id, m.template_id as "templateId"
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

/** An event for each message, and the lease under which the deliveries are written. */
export interface EventBatch {
  createdAt: Date
  rows: readonly { id: string; body: Buffer }[]
  lease: { until: Date; token: string | null; except: readonly string[] }
}

type EventPlaces = Readonly<Record<'createdAt' | 'leaseUntil' | 'leaseToken' | 'leaseExcept', string>>

/**
 * Keeps each message of the network once, and with each that is new its event and deliveries: one statement, which is
 * nearly all that an ordinary webhook costs. In order, so that two batches never wait in a circle. With `onlyAt` nothing is
 * kept unless that is the routing revision.
 */
export function saveInboundStatement(insertEventsSql: (events: string, places: EventPlaces) => string) {
  const keeping = statement(
    {
      createdAt: 'timestamptz',
      leaseUntil: 'timestamptz',
      leaseToken: 'uuid',
      leaseExcept: 'uuid[]',
      onlyAt: 'bigint',
      arrivals: {
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
        eventId: 'uuid',
        body: 'bytea',
      },
    },
    ({ arrivals, onlyAt, ...places }) => `with new as materialized (
       select arrivals.* from routing_revision r, ${arrivals} where r.value = coalesce(${onlyAt}, r.value)
     ), kept as (
       insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, sent_by_user_id, profile_name,
         type, received_at, recorded_at, content, quoted_wa_message_id)
       select n.id, n.workspace_id, n.sender_id, n.wa_message_id, n.sent_by, n.sent_by_user_id, n.profile_name,
         n.type, n.received_at, ${places.createdAt}, n.content, n.quoted_wa_message_id
       from new n
       order by n.sender_id, n.wa_message_id
       on conflict (sender_id, wa_message_id) do nothing
       returning id
     ), fresh as materialized (
       select n.event_id as id, n.workspace_id, 'message.received' as type, n.body, n.id as message_id
       from new n join kept k on k.id = n.id
     ), ${insertEventsSql('fresh', places)}
     select f.message_id as "messageId", h.event_id as "eventId", h.webhook_id as "webhookId", h.leased
     from fresh f left join handed h on h.event_id = f.id`,
  )
  return (
    db: Db,
    rows: readonly InboundRow[],
    { createdAt, rows: events, lease }: EventBatch,
    onlyAt: number | null,
  ): Promise<KeptRow[]> =>
    keeping.rows(db, {
      arrivals: rows.map((row, index) => {
        const { id, body } = events[index] as EventBatch['rows'][number]
        return { ...row, eventId: id, body }
      }),
      createdAt,
      leaseUntil: lease.until,
      leaseToken: lease.token,
      leaseExcept: lease.except,
      onlyAt,
    })
}

export const currentRevision = async (db: Db): Promise<number> =>
  (await db.first<{ value: number }>('select value from routing_revision'))?.value ?? 0
