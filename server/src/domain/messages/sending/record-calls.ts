/** Records the results of send calls: the message's status and event, its refund, retries and holds. */
import type { MessageError } from '@parley/contract/events'
import { inBriefTransaction } from '../../../db/connect/brief-transaction.ts'
import type { Db } from '../../../db/db.ts'
import { oneWithKeyLookups } from '../../../db/planner-settings.ts'
import type { SendDecision } from '../../../whatsapp/outgoing/send-retry-policy.ts'
import { outcomeUnknown } from '../../../whatsapp/outgoing/send-retry-policy.ts'
import type { StatusReport } from '../receiving/status-changes.ts'
import { saveStatuses } from '../receiving/statuses.ts'
import { dropHolds, type Hold, holdPair, insertHolds } from './holds.sql.ts'
import { type ClaimedMessage, type ExpiredSend, markUnknown, requeue } from './outbox.sql.ts'
import { holdTargetOf } from './pace.ts'
import { recordSent, type SentMessage } from './record-sent.ts'

export interface CompletedCall {
  claimed: ClaimedMessage
  decision: SendDecision
  /** When the response arrived. */
  at: Date
}

/** A message whose outcome is unknown fails if no status arrives within this time. */
export const unknownForMs = 3_600_000

/**
 * Records messages that were sent with one statement, and all others in a transaction of their own: each locks its messages in
 * order, so neither can deadlock with those who record statuses. Can be repeated if its response was lost.
 */
export async function recordCalls(db: Db, now: Date, calls: readonly CompletedCall[]): Promise<void> {
  const sent = calls.flatMap(sentOf)
  const recorded = sent.length === 0 ? null : await oneWithKeyLookups(db, (tx) => recordSent(tx, now, sent))
  const others = calls.filter(({ claimed }) => !recorded?.has(claimed.messageId))
  if (others.length > 0) await inBriefTransaction(db, (tx) => recordOthers(tx, now, others))
}

/** Nothing but the message changes. A first success after failures also ends holds. */
function sentOf({ claimed, decision, at }: CompletedCall): SentMessage[] {
  if (decision.kind !== 'sent' || claimed.failures !== null) return []
  const { waMessageId, userId } = decision
  return [{ claimed, waMessageId, userId, occurredAt: wholeSecond(at) }]
}

/** Run within a transaction. */
async function recordOthers(db: Db, now: Date, calls: readonly CompletedCall[]): Promise<void> {
  await saveStatuses(db, now, calls.flatMap(reportOf))
  const retried = calls.flatMap(({ claimed, decision }) => {
    if (decision.kind !== 'retry') return []
    const { error, scope, afterMs } = decision
    return [{ ...claimed, attempts: claimed.attempts + 1, dueAt: after(now, afterMs), error, scope }]
  })
  if (retried.length > 0) await requeue(db, { leased: retried })
  const unknown = calls.filter(({ decision }) => decision.kind === 'unknown').map(({ claimed }) => claimed)
  if (unknown.length > 0) await markUnknown(db, { leased: unknown, until: after(now, unknownForMs) })
  for (const { senderId, recipient, dueAt, scope } of retried) {
    if (holdTargetOf(scope, false) === 'pair') await holdPair(db, senderId, recipient, dueAt)
  }
  const holds = calls.flatMap((call) => holdOf(call, now))
  if (holds.length > 0) await insertHolds(db, { holds })
  const released = calls.flatMap(({ claimed, decision }) =>
    decision.kind === 'sent' ? Object.keys(claimed.failures ?? {}) : [],
  )
  if (released.length > 0) await dropHolds(db, released)
}

/** Fails messages that got no status and messages that could not be sent in time. Run within a transaction. */
export async function failExpired(db: Db, now: Date, messages: readonly ExpiredSend[]): Promise<void> {
  const reports = messages.map(({ messageId, workspaceId, senderId, state, lastError }) => {
    const error = state === 'unknown' ? outcomeUnknown('no status arrived') : (lastError ?? tooLate)
    return { ...failed(error, now), messageId, workspaceId, senderId }
  })
  await saveStatuses(db, now, reports)
}

const tooLate: MessageError = {
  code: 'expired',
  title: 'Expired',
  message: 'WhatsApp did not accept the message within 24 hours.',
  details: null,
}

const failed = (error: MessageError, occurredAt: Date) => ({
  waMessageId: null,
  status: 'failed' as const,
  occurredAt,
  error,
  recipientUserId: null,
  pricing: null,
  fromSending: true,
})

function reportOf({ claimed, decision, at }: CompletedCall): StatusReport[] {
  const { messageId, workspaceId, senderId } = claimed
  const occurredAt = wholeSecond(at)
  if (decision.kind === 'failed') return [{ ...failed(decision.error, occurredAt), messageId, workspaceId, senderId }]
  if (decision.kind !== 'sent') return []
  const { waMessageId, userId: recipientUserId } = decision
  const ids = { messageId, workspaceId, senderId, recipientUserId }
  return [{ ...ids, waMessageId, status: 'sent', occurredAt, error: null, pricing: null }]
}

/** The network's times are whole seconds. Truncate ours too, or a delivery in the same second would seem earlier. */
const wholeSecond = (at: Date): Date => new Date(Math.trunc(at.getTime() / 1000) * 1000)

function holdOf({ claimed, decision }: CompletedCall, now: Date): Hold[] {
  if (decision.kind === 'sent') return []
  // A number whose calls get no response is held too: every further call would also end as unknown.
  const target = decision.kind === 'unknown' ? 'sender' : holdTargetOf(decision.scope, decision.kind === 'failed')
  if (target === 'none' || target === 'pair') return []
  const subjectId = { sender: claimed.senderId, connection: claimed.connectionId, app: claimed.appId }[target]
  const failures = (claimed.failures?.[subjectId] ?? 0) + 1
  const waitMs = decision.kind === 'unknown' ? Math.min(60_000, 1000 * 2 ** (failures - 1)) : decision.holdMs(failures)
  return [{ subjectId, until: after(now, waitMs), failures, error: decision.error }]
}

const after = (now: Date, ms: number): Date => new Date(now.getTime() + ms)
