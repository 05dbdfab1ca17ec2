import type { Db } from '../../../db/db.ts'
import { type Row, statement } from '../../../db/statement.ts'
import {
  type DeliveryOfRow,
  type EventBatch,
  eventParameters,
  eventValues,
  type InsertEventsSql,
  withEvents,
} from '../event-batch.sql.ts'

/** Messages that the network has accepted. */
const sentColumns = {
  messageId: 'uuid',
  workspaceId: 'uuid',
  senderId: 'uuid',
  waMessageId: 'text',
  recipientUserId: 'text',
  occurredAt: 'timestamptz',
} as const

/** A recorded message. */
interface RecordedRow extends DeliveryOfRow {
  messageId: string
  /** False if a status of the network has recorded it already. */
  isNew: boolean
}

/**
 * Records in one statement that messages were sent: stores their status and the event with its deliveries, and deletes the row
 * in the outbox. Leaves out messages with another status or an early status. Locks messages in the order of their IDs, as
 * statements that record statuses do. After waiting for a lock, it checks the latest version of the message. A message that is
 * still queued has no status, so the statement cannot miss one.
 */
export function recordSentStatement(insertEventsSql: InsertEventsSql) {
  const recording = statement(
    { ...eventParameters, sent: { ...sentColumns, eventId: 'uuid', body: 'bytea', person: 'text' } },
    ({ sent, ...places }) => `with call as materialized (
       select sent.* from ${sent} order by sent.message_id
     ), queued as materialized (
       select call.* from call cross join lateral (
         select from messages m where m.id = call.message_id and m.status = 'queued' and not exists (
           select from early_statuses e
           where e.sender_id = call.sender_id and e.wa_message_id = call.wa_message_id)
         for update of m) as m
     ), known as materialized (
       select call.message_id from call cross join lateral (
         select from messages m where m.id = call.message_id and m.wa_message_id = call.wa_message_id
           and m.sent_at is not null and (call.recipient_user_id is null or m.recipient_user_id is not null)
         offset 0) as m
     ), recorded as (
       update messages m set status = 'sent', wa_message_id = q.wa_message_id, sent_at = q.occurred_at,
         recipient_user_id = coalesce(m.recipient_user_id, q.recipient_user_id)
       from queued q where m.id = q.message_id
     ), entered as (
       insert into message_statuses (message_id, workspace_id, status, occurred_at)
       select message_id, workspace_id, 'sent', occurred_at from queued
     ), dropped as (
       delete from outbox o using queued q where o.message_id = q.message_id
     ), fresh as materialized (
       select event_id as id, workspace_id, 'message.sent' as type, body, message_id, sender_id, person from queued
     ), ${insertEventsSql('fresh', places)}
     select f.message_id as "messageId", true as "isNew", d.event_id as "eventId", d.webhook_id as "webhookId", d.leased,
       d.conversation
     from fresh f left join new_deliveries d on d.event_id = f.id
     union all select message_id, false, null, null, null, null from known`,
  )
  return (db: Db, sent: readonly Row<typeof sentColumns>[], events: EventBatch): Promise<RecordedRow[]> =>
    recording.rows(db, { sent: withEvents(sent, events), ...eventValues(events) })
}
