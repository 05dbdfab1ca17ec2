import type { MessageError, MessagePricing } from '@parley/contract/events'
import type { Db } from '../../../db/db.ts'
import { statement } from '../../../db/statement.ts'
import type { MessageStatus, NetworkStatus } from '../../../whatsapp/incoming/status-rank.ts'
import {
  type DeliveryOfRow,
  type EventBatch,
  eventParameters,
  eventValues,
  type InsertEventsSql,
  withEvents,
} from '../event-batch.sql.ts'
import type { StatusTimes } from './status-times.ts'

export interface TrackedMessage {
  id: string
  workspaceId: string
  senderId: string
  recipient: string
  recipientUserId: string | null
  reference: string | null
  status: MessageStatus
  waMessageId: string | null
  createdAt: Date
  /** A status without a time is not recorded yet. */
  times: StatusTimes
  pricing: MessagePricing | null
  /** Where the row was when it was read. */
  place: string
  /** The transaction that wrote the row. Every update changes it. */
  version: string
}

export interface StatusReference {
  senderId: string
  waMessageId: string | null
  /** Our message ID, if the network returned it with the status. */
  messageId: string | null
}

const columns = `m.id, m.workspace_id as "workspaceId", m.sender_id as "senderId", m.recipient,
       m.recipient_user_id as "recipientUserId", m.reference, m.status,
       m.wa_message_id as "waMessageId", m.created_at as "createdAt", m.sent_at as sent, m.delivered_at as delivered,
       m.read_at as read, m.failed_at as failed, m.pricing, m.ctid::text as place, m.xmin::text as version`

type TrackedRow = Omit<TrackedMessage, 'times'> & StatusTimes

const toTracked = ({ sent, delivered, read, failed, ...message }: TrackedRow): TrackedMessage => ({
  ...message,
  times: { sent, delivered, read, failed },
})

const finding = statement(
  { refs: { senderId: 'uuid', waMessageId: 'text', messageId: 'uuid' } },
  // The subqueries make PostgreSQL look up each message by an index.
  ({ refs }) => `with ref as materialized (select * from ${refs})
     select m.* from ref cross join lateral (
       select ${columns} from messages m where m.id = ref.message_id and m.sender_id = ref.sender_id offset 0) as m
     union all
     select m.* from ref cross join lateral (
       select ${columns} from messages m where m.sender_id = ref.sender_id and m.wa_message_id = ref.wa_message_id
       offset 0) as m
     where ref.message_id is null`,
)

/** Returns the messages that have one of our IDs, or without one the network's ID, without locking them. */
export async function findMessages(db: Db, refs: readonly StatusReference[]): Promise<TrackedMessage[]> {
  return (await finding.rows<TrackedRow>(db, { refs })).map(toTracked)
}

const locking = statement(
  { refs: { senderId: 'uuid', waMessageId: 'text', messageId: 'uuid' } },
  ({ refs }) => `select ${columns} from messages m where m.id in (
       select m.id from ${refs} join messages m on m.sender_id = refs.sender_id and m.wa_message_id = refs.wa_message_id
       union
       select m.id from ${refs} join messages m on m.id = refs.message_id and m.sender_id = refs.sender_id)
     order by m.id for update of m`,
)

/**
 * Locks and returns the messages of these statuses, as the previous holder of the lock has left them. They are found by the
 * network's ID, or by our ID, which the network returns in a status even before we know its ID. Rows are locked in order, to
 * prevent deadlocks between batches.
 */
export async function lockMessages(db: Db, refs: readonly StatusReference[]): Promise<TrackedMessage[]> {
  return (await locking.rows<TrackedRow>(db, { refs })).map(toTracked)
}

export interface StatusRow {
  messageId: string
  workspaceId: string
  status: NetworkStatus
  occurredAt: Date
  error: MessageError | null
}

export interface MessageProgress {
  id: string
  /** The version of the message that these changes were decided for. */
  place: string
  version: string
  /** It has no status yet, so it is in the outbox. */
  isFirst: boolean
  status: MessageStatus
  waMessageId: string | null
  recipientUserId: string | null
  sentAt: Date | null
  deliveredAt: Date | null
  readAt: Date | null
  failedAt: Date | null
  error: MessageError | null
  pricing: MessagePricing | null
}

/** A stored row: a changed message, the event of a new status, or one of its deliveries. */
interface ChangedRow extends DeliveryOfRow {
  messageId: string | null
}

/**
 * Changes messages and stores their new statuses with events and deliveries, in one statement. A message that another
 * transaction has changed since it was read, or is changing now, is left out, so this waits for no lock. Times and
 * WhatsApp IDs that are already set are not changed. A message that gets its first status leaves the outbox. If `onlyAt` is
 * given and is not the current routing revision, nothing is stored; then a first status is also left out if early ones
 * wait for it.
 *
 * A message is found by its place in the table, which is cheaper than by an index. Another row may be in that place by now, so
 * the ID and the version are compared.
 */
export function saveChangesStatement(insertEventsSql: InsertEventsSql) {
  const storing = statement(
    {
      ...eventParameters,
      onlyAt: 'bigint',
      progress: {
        id: 'uuid',
        place: 'text',
        version: 'text',
        isFirst: 'bool',
        status: 'text',
        waMessageId: 'text',
        recipientUserId: 'text',
        sentAt: 'timestamptz',
        deliveredAt: 'timestamptz',
        readAt: 'timestamptz',
        failedAt: 'timestamptz',
        error: 'json',
        pricing: 'json',
      },
      statuses: {
        messageId: 'uuid',
        workspaceId: 'uuid',
        status: 'text',
        occurredAt: 'timestamptz',
        error: 'json',
        eventId: 'uuid',
        body: 'bytea',
        senderId: 'uuid',
        person: 'text',
      },
    },
    ({ progress, statuses, onlyAt, ...places }) => `with asked as materialized (
       select progress.*, progress.place::tid as tid, progress.version::xid as xid from ${progress}
       where coalesce(${onlyAt} = (select value from routing_revision), true)
     ), unchanged as materialized (
       select a.* from asked a cross join lateral (
         select from messages m where m.ctid = a.tid and m.id = a.id and m.xmin = a.xid
           and (${onlyAt} is null or not a.is_first or not exists (
             select from early_statuses e where e.sender_id = m.sender_id and e.wa_message_id = a.wa_message_id))
         for no key update skip locked) as locked
     ), changed as (
       update messages m set
         status = c.status,
         wa_message_id = coalesce(m.wa_message_id, c.wa_message_id),
         recipient_user_id = coalesce(m.recipient_user_id, c.recipient_user_id),
         sent_at = coalesce(m.sent_at, c.sent_at),
         delivered_at = coalesce(m.delivered_at, c.delivered_at),
         read_at = coalesce(m.read_at, c.read_at),
         failed_at = coalesce(m.failed_at, c.failed_at),
         error = case when c.status = 'failed' then coalesce(c.error, m.error) end,
         pricing = coalesce(c.pricing, m.pricing)
       from unchanged c where m.ctid = c.tid and m.id = c.id
       returning m.id
     ), dropped as (
       delete from outbox o using unchanged u where u.is_first and o.message_id = u.id
     ), reported as materialized (
       select s.* from (select * from ${statuses}) as s join changed c on c.id = s.message_id
     ), stored as (
       insert into message_statuses (message_id, workspace_id, status, occurred_at, error)
       select message_id, workspace_id, status, occurred_at, error from reported
       on conflict do nothing
       returning message_id, status
     ), fresh as materialized (
       select r.event_id as id, r.workspace_id, 'message.' || r.status as type, r.body, r.message_id, r.sender_id, r.person
       -- PostgreSQL expects a hundredth of the rows, and would compare each status with each. With "is true" it uses a hash.
       from reported r where ((r.message_id, r.status) in (select message_id, status from stored)) is true
     ), ${insertEventsSql('fresh', places)}
     select id as "messageId", null::uuid as "eventId", null::uuid as "webhookId", null::bool as leased,
       null::uuid as conversation
     from changed
     union all select null, id, null, null, null from fresh
     union all select null, event_id, webhook_id, leased, conversation from new_deliveries`,
  )
  return (
    db: Db,
    progress: readonly MessageProgress[],
    statuses: readonly StatusRow[],
    events: EventBatch,
    onlyAt: number | null,
  ): Promise<ChangedRow[]> =>
    storing.rows(db, {
      progress,
      statuses: withEvents(statuses, events),
      ...eventValues(events),
      onlyAt,
    })
}
