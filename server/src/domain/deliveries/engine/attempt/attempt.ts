import { testEventType } from '@parley/contract/events'
import type { Db } from '../../../../db/db.ts'
import { withPrefix } from '../../../../lib/ids.ts'
import type { Posted } from '../../../../net/outbound.ts'
import type { Logger } from '../../../../telemetry/logger.ts'
import type { LeasedDelivery } from '../first-attempts.ts'
import type { EndedAttempt } from './record-attempts.ts'
import { decide } from './retry-policy.ts'
import { type SigningKeys, signatureHeaders } from './signature.ts'

/** The headers of an attempt, with signatures for the time `now`. */
export function headersOf(
  keys: readonly SigningKeys[],
  item: Pick<LeasedDelivery, 'eventId' | 'type' | 'body' | 'replayId'>,
  now: Date,
  userAgent: string,
): string[] {
  const headers = signatureHeaders(keys, item.eventId, Math.floor(now.getTime() / 1000), item.body)
  headers.push('content-type', 'application/json')
  headers.push('service-event', item.type)
  headers.push('service-delivery', item.eventId)
  if (item.replayId) headers.push('service-replay', withPrefix('rpl', item.replayId))
  headers.push('user-agent', userAgent)
  headers.push('accept-encoding', 'identity')
  return headers
}

export interface Outcome {
  ended: EndedAttempt
  /** The same delivery under an extended lease, if the next attempt is made immediately. */
  immediateRetry: LeasedDelivery | null
}

/** What to record for an attempt, and whether to retry immediately. */
export function outcomeOf(
  item: LeasedDelivery,
  { fault, status, address, responseHeaders, responseBody: response, durationUs }: Posted,
  context: { at: Date; endedAt: Date; leaseUntil: Date; secretChangedAt: Date | null; signatures: string },
): Outcome {
  const { eventId, webhookId, workspaceId, eventCreatedAt, type, trigger, lease, leaseUntilMs, hasTurn } = item
  const number = item.attempts + 1
  const { at, endedAt, leaseUntil, secretChangedAt, signatures } = context
  const decision = decide(type, fault, number, endedAt)
  const delivery = { eventId, webhookId, workspaceId, eventCreatedAt, type, trigger, lease, leaseUntilMs, hasTurn }
  const attempt = { ...delivery, at, number, endedAt, fault, secretChangedAt, isTest: type === testEventType }
  const result = { address, status, error: fault, answer: response, responseHeaders, signatures, durationUs }
  if (decision.kind !== 'retry') {
    return {
      ended: { ...attempt, ...result, state: decision.kind, dueAt: null, nextLease: null },
      immediateRetry: null,
    }
  }
  // At a failing endpoint the immediate retry waits for a turn like all others. If this process was frozen during the
  // attempt until its lease ended, the delivery may be another's by now.
  const hasLease = leaseUntilMs > endedAt.getTime()
  const isImmediate = decision.dueAt <= endedAt && !hasTurn && hasLease
  const dueAt = isImmediate ? leaseUntil : decision.dueAt
  return {
    ended: { ...attempt, ...result, state: 'retrying', dueAt, nextLease: isImmediate ? lease : null },
    immediateRetry: isImmediate
      ? { ...item, attempts: number, trigger: 'retry', leaseUntilMs: leaseUntil.getTime(), pace: null }
      : null,
  }
}

/** Counts an attempt, and logs it if it failed. */
export function reportAttempt(
  { db, log }: { db: Db; log: Logger },
  { webhookId, eventId, attempts }: LeasedDelivery,
  { fault, status, durationUs }: Posted,
  state: EndedAttempt['state'],
): void {
  const { metrics } = db.telemetry
  metrics.add('attempts', state)
  metrics.time('attempts', durationUs / 1000)
  if (!fault) return
  metrics.add('attempt errors', fault)
  const ids = { webhook_id: webhookId, event_id: eventId, attempt: attempts + 1 }
  const fields = { event: 'delivery.attempt_failed', ...ids, error: fault, status } as const
  log.debug(fields, 'a delivery attempt failed')
}
