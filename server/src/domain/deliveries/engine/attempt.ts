import type { LeasedDelivery } from '../../../lib/first-attempts.ts'
import type { Posted } from '../../../lib/outbound.ts'
import type { EndedAttempt } from './record-attempts.ts'
import { decide } from './retry-policy.ts'
import { type SigningKeys, signatureHeaders } from './signature.ts'

/** All headers of an attempt, signed as of this time. */
export function headersOf(keys: SigningKeys, item: LeasedDelivery, now: Date, userAgent: string): string[] {
  const headers = signatureHeaders(keys, item.eventId, Math.floor(now.getTime() / 1000), item.body)
  headers.push('content-type', 'application/json')
  headers.push('service-event', item.type)
  headers.push('service-delivery', item.eventId)
  headers.push('user-agent', userAgent)
  headers.push('accept-encoding', 'identity')
  return headers
}

export interface Outcome {
  ended: EndedAttempt
  /** Where the next attempt is made at once: the same delivery, still ours until the lease runs out. */
  again: LeasedDelivery | null
}

/** What an attempt leads to. */
export function outcomeOf(
  item: LeasedDelivery,
  { fault, status, address, responseBody: response, durationUs }: Posted,
  times: { at: Date; endedAt: Date; leaseUntil: Date },
): Outcome {
  const { eventId, webhookId, workspaceId, eventCreatedAt, trigger, lease } = item
  const number = item.attempts + 1
  const { at, endedAt, leaseUntil } = times
  const decision = decide(fault, number, endedAt)
  const about = { eventId, webhookId, workspaceId, eventCreatedAt, at, number, trigger, lease, endedAt, fault }
  const got = { address, status, error: fault, answer: response, durationUs }
  if (decision.kind !== 'retry') {
    return { ended: { ...about, ...got, state: decision.kind, dueAt: null, nextLease: null }, again: null }
  }
  const atOnce = decision.dueAt <= endedAt
  const dueAt = atOnce ? leaseUntil : decision.dueAt
  return {
    ended: { ...about, ...got, state: 'retrying', dueAt, nextLease: atOnce ? lease : null },
    again: atOnce ? { ...item, attempts: number, trigger: 'retry', leaseUntilMs: leaseUntil.getTime() } : null,
  }
}
