import type { MessageError, MessagePricing } from '@parley/contract/events'
import type { Db } from '../../../db/db.ts'
import { type Places, statement } from '../../../db/statement.ts'
import type { MessageStatus, NetworkStatus } from '../../../whatsapp/status-rank.ts'
import type { StatusTimes } from './status-times.ts'

export interface TrackedMessage {
  id: string
  workspaceId: string
  senderId: string
  recipient: string
  recipientUserId: string | null
  status: MessageStatus
  waMessageId: string | null
  createdAt: Date
  times: StatusTimes
  pricing: MessagePricing | null
  /** The statuses that are already recorded. */
  known: NetworkStatus[]
}

export interface StatusReference {
  senderId: string
  waMessageId: string | null
  /** Our message ID, if the network returned it with the status. */
  messageId: string | null
}

const parameters = { refs: { senderId: 'uuid', waMessageId: 'text', messageId: 'uuid' } } as const

const isReferenced = ({ refs }: Places<typeof parameters>) => `m.id in (
       select m.id from ${refs} join messages m on m.sender_id = refs.sender_id and m.wa_message_id = refs.wa_message_id
       union
       select m.id from ${refs} join messages m on m.id = refs.message_id and m.sender_id = refs.sender_id)`

const locking = statement(
  parameters,
  (places) => `select m.id from messages m where ${isReferenced(places)} order by m.id for update of m`,
)

const tracking = statement(
  parameters,
  (places) => `select m.id, m.workspace_id as "workspaceId", m.sender_id as "senderId", m.recipient,
       m.recipient_user_id as "recipientUserId", m.status,
       m.wa_message_id as "waMessageId", m.created_at as "createdAt", m.sent_at as sent, m.delivered_at as delivered,
       m.read_at as read, m.failed_at as failed, m.pricing,
       array(select s.status from message_statuses s where s.message_id = m.id) as known
     from messages m where ${isReferenced(places)} order by m.id`,
)

/**
 * Locks and returns the messages of these statuses. They are found by the network's ID, or by our ID, which the network
 * returns in a status even before we know its ID. Rows are locked in order, to prevent deadlocks between batches. Locking and
 * reading are two statements: a statement that waits for a lock still sees other tables as they were before the wait, and
 * would miss a status that the previous holder of the lock has just inserted.
 */
export async function lockMessages(db: Db, refs: readonly StatusReference[]): Promise<TrackedMessage[]> {
  const [, tracked] = await Promise.all([
    locking.rows(db, { refs }),
    tracking.rows<Omit<TrackedMessage, 'times'> & StatusTimes>(db, { refs }),
  ])
  return tracked.map(({ sent, delivered, read, failed, ...message }) => ({
    ...message,
    times: { sent, delivered, read, failed },
  }))
}

export interface StatusRow {
  messageId: string
  workspaceId: string
  status: NetworkStatus
  occurredAt: Date
  error: MessageError | null
}

const statusInsertion = statement(
  { statuses: { messageId: 'uuid', workspaceId: 'uuid', status: 'text', occurredAt: 'timestamptz', error: 'json' } },
  ({ statuses }) => `insert into message_statuses (${statuses.columns}) select * from ${statuses}`,
)

export const insertStatuses = (db: Db, statuses: readonly StatusRow[]): Promise<number> =>
  statusInsertion.change(db, { statuses })

export interface MessageProgress {
  id: string
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

const progressUpdate = statement(
  {
    progress: {
      id: 'uuid',
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
  },
  ({ progress }) => `update messages m set
       status = progress.status,
       wa_message_id = coalesce(m.wa_message_id, progress.wa_message_id),
       recipient_user_id = coalesce(m.recipient_user_id, progress.recipient_user_id),
       sent_at = coalesce(m.sent_at, progress.sent_at),
       delivered_at = coalesce(m.delivered_at, progress.delivered_at),
       read_at = coalesce(m.read_at, progress.read_at),
       failed_at = coalesce(m.failed_at, progress.failed_at),
       error = case when progress.status = 'failed' then coalesce(progress.error, m.error) end,
       pricing = coalesce(progress.pricing, m.pricing)
     from ${progress} where m.id = progress.id`,
)

/** Updates the status and the times of messages. Times and WhatsApp IDs that are already set are not changed. */
export const updateProgress = (db: Db, progress: readonly MessageProgress[]): Promise<number> =>
  progressUpdate.change(db, { progress })
