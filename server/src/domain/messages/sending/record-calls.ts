/** What became of send calls, kept: the message's status and event, its credits, and who has to wait. */
import type { MessageError } from '@parley/contract/events'
import type { Db } from '../../../db/db.ts'
import type { SendDecision } from '../../../whatsapp/send-retry-policy.ts'
import { outcomeUnknown } from '../../../whatsapp/send-retry-policy.ts'
import { type Report, saveStatuses } from '../receiving/statuses.ts'
import { dropHolds, type Hold, holdPair, insertHolds } from './holds.sql.ts'
import { type Claimed, type ExpiredSend, park, requeue } from './outbox.sql.ts'
import { heldBy, holdMs } from './pace.ts'

export interface Called {
  claimed: Claimed
  judgement: SendDecision
  /** When the call began. */
  at: Date
}

/** If no status has said by then what became of a message, it counts as failed. */
export const unknownForMs = 3_600_000

/** Keeps the outcomes of calls. Run within a transaction. */
export async function recordCalls(db: Db, now: Date, calls: readonly Called[]): Promise<void> {
  await saveStatuses(db, now, calls.flatMap(reportOf))
  const retried = calls.flatMap(({ claimed, judgement }) =>
    judgement.kind === 'retry'
      ? [{ ...claimed, dueAt: after(now, judgement.afterMs), error: judgement.error, scope: judgement.scope }]
      : [],
  )
  if (retried.length > 0) await requeue(db, retried)
  const unknown = calls.filter(({ judgement }) => judgement.kind === 'unknown').map(({ claimed }) => claimed)
  if (unknown.length > 0) await park(db, unknown, after(now, unknownForMs))
  for (const { senderId, recipient, dueAt, scope } of retried) {
    if (heldBy(scope, false) === 'pair') await holdPair(db, senderId, recipient, dueAt)
  }
  const holds = calls.flatMap((call) => holdOf(call, now))
  if (holds.length > 0) await insertHolds(db, holds)
  const freed = calls.flatMap(({ claimed, judgement }) =>
    judgement.kind === 'sent' ? Object.keys(claimed.failures ?? {}) : [],
  )
  if (freed.length > 0) await dropHolds(db, freed)
}

/** Fails what nobody heard of again, and what could not be handed over in time. Run within a transaction. */
export async function failExpired(db: Db, now: Date, messages: readonly ExpiredSend[]): Promise<void> {
  const reports = messages.map(({ messageId, workspaceId, senderId, state, lastError }) => {
    const error = state === 'unknown' ? outcomeUnknown('no status came') : (lastError ?? tooLate)
    return { ...failed(error, now), messageId, workspaceId, senderId }
  })
  await saveStatuses(db, now, reports)
}

const tooLate: MessageError = {
  code: 'expired',
  title: 'Expired',
  message: 'The message could not be handed to the network in time.',
  details: null,
}

const failed = (error: MessageError, occurredAt: Date) => ({
  waMessageId: null,
  status: 'failed' as const,
  occurredAt,
  error,
  fromSending: true,
})

function reportOf({ claimed, judgement, at }: Called): Report[] {
  const { messageId, workspaceId, senderId } = claimed
  if (judgement.kind === 'failed') return [{ ...failed(judgement.error, at), messageId, workspaceId, senderId }]
  if (judgement.kind !== 'sent') return []
  // The network's own times are whole seconds; so is this one, or a delivery in the same second would seem to precede it.
  const occurredAt = new Date(Math.trunc(at.getTime() / 1000) * 1000)
  const { waMessageId } = judgement
  return [{ waMessageId, status: 'sent', occurredAt, error: null, messageId, workspaceId, senderId }]
}

function holdOf({ claimed, judgement }: Called, now: Date): Hold[] {
  if (judgement.kind === 'sent') return []
  // A number whose calls go unanswered waits too: every further one would end as unknown.
  const held = judgement.kind === 'unknown' ? 'sender' : heldBy(judgement.scope, judgement.kind === 'failed')
  if (held === 'nobody' || held === 'pair') return []
  const subjectId = { sender: claimed.senderId, connection: claimed.connectionId, app: claimed.appId }[held]
  const failures = (claimed.failures?.[subjectId] ?? 0) + 1
  const waitMs =
    judgement.kind === 'unknown' ? Math.min(60_000, 1000 * 2 ** (failures - 1)) : holdMs(judgement.error.code, failures)
  return [{ subjectId, until: after(now, waitMs), failures, error: judgement.error }]
}

const after = (now: Date, ms: number): Date => new Date(now.getTime() + ms)
