/** Records that the network has accepted messages, nearly every result of a call, with one statement for many. */
import type { MessageStatusData } from '@parley/contract/events'
import type { Static } from 'typebox'
import type { Db } from '../../../db/db.ts'
import { withPrefix } from '../../../lib/ids.ts'
import { insertEventsSql, offerToWorker, prepareEvents } from '../../deliveries/engine/publish/publish.ts'
import { hasDelivery } from '../event-batch.sql.ts'
import { noTimes, statusTime } from '../receiving/status-times.ts'
import { numberIn } from '../recipient.ts'
import type { ClaimedMessage } from './outbox.sql.ts'
import { recordSentStatement } from './record-sent.sql.ts'

const record = recordSentStatement(insertEventsSql)

export interface SentMessage {
  claimed: ClaimedMessage
  waMessageId: string
  /** The user ID of the recipient, if the network reported it. */
  userId: string | null
  /** The network's time. */
  occurredAt: Date
}

/**
 * Returns the IDs of the messages that are recorded as sent, by this or before: the network may report a status first, and the
 * response to an earlier try may be lost. The others have another status, or an early status.
 */
export async function recordSent(db: Db, now: Date, sent: readonly SentMessage[]): Promise<Set<string>> {
  const data = sent.map(toData)
  const events = sent.map(({ claimed: { workspaceId, senderId } }, index) => {
    return { workspaceId, senderId, type: 'message.sent' as const, data: data[index] as EventData }
  })
  const prepared = prepareEvents(db, now, events)
  const rows = sent.map(({ claimed, waMessageId, userId, occurredAt }) => {
    const { messageId, workspaceId, senderId, createdAt } = claimed
    const at = statusTime('sent', occurredAt, createdAt, noTimes)
    return { messageId, workspaceId, senderId, waMessageId, recipientUserId: userId, occurredAt: at }
  })
  const recorded = await record(db, rows, prepared)
  const newIds = new Set(recorded.flatMap(({ messageId, isNew }) => (isNew ? messageId : [])))
  const newEvents = prepared.rows.filter((_, index) => newIds.has(rows[index]?.messageId ?? ''))
  if (newEvents.length > 0) offerToWorker(db, { ...prepared, rows: newEvents }, recorded.filter(hasDelivery))
  return new Set(recorded.map(({ messageId }) => messageId))
}

type EventData = Static<typeof MessageStatusData>

const toData = ({ claimed, waMessageId, userId, occurredAt }: SentMessage): EventData => ({
  message_id: withPrefix('msg', claimed.messageId),
  to: numberIn(claimed.recipient),
  to_user_id: claimed.recipientUserId ?? userId,
  status: 'sent',
  wa_message_id: waMessageId,
  occurred_at: statusTime('sent', occurredAt, claimed.createdAt, noTimes).toISOString(),
  error: null,
  pricing: null,
  reference: claimed.reference,
})
