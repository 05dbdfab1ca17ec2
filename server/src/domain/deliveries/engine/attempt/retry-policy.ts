import { testEventType } from '@parley/contract/events'
import { formatTime } from '../../../../lib/format.ts'
import type { OutboundErrorKind } from '../../../../net/outbound-error.ts'

/** The delay after the first failed attempt, after the second, and so on. */
const retryAfterMs = [0, 10_000, 60_000, 300_000, 1_800_000, 7_200_000, 21_600_000] as const

/** Attempts of a full schedule: the first, and one after each delay. */
const attemptsMax = retryAfterMs.length + 1

/** The attempts of a schedule. A test event has one. `type` is null if the event is past its retention. */
export const attemptsMaxOf = (type: string | null): number => (type === testEventType ? 1 : attemptsMax)

/** The attempts from `number`, due at `at`, to the last one, assuming that each fails immediately. */
export function upcomingAttempts(type: string | null, number: number, at: Date): { number: number; at: Date }[] {
  const upcoming = []
  let atMs = at.getTime()
  for (let next = number; next <= attemptsMaxOf(type); next++) {
    upcoming.push({ number: next, at: new Date(atMs) })
    atMs += retryAfterMs[next - 1] ?? 0
  }
  return upcoming
}

/** The endpoint is disabled when this many attempts in a row have failed. */
export const failuresMax = 20

/** From this many failures in a row on, an endpoint gets one attempt at a time. */
export const failuresBeforePacing = 5

/** How long after one attempt at a failing endpoint has ended the next may begin. */
export const pacedGapMs = 2_000

/** When a delivery is due again whose attempt could not be made because this installation could not look up names. */
export const postponedMs = 10_000

/**
 * Attempts that were already in progress when an endpoint began to fail count up to here. Only its paced attempts count
 * further, at least four, which take eight seconds: so a restart under heavy traffic, with dozens of attempts in progress,
 * does not disable an endpoint.
 */
export const unpacedFailuresMax = 16

export type Decision = { kind: 'delivered' } | { kind: 'failed' } | { kind: 'retry'; dueAt: Date }

/** What to do with a delivery of an event after attempt `number`, which ended at `endedAt`. */
export function decide(type: string, fault: OutboundErrorKind | null, number: number, endedAt: Date): Decision {
  if (fault === null) return { kind: 'delivered' }
  const waitMs = retryAfterMs[number - 1]
  return waitMs === undefined || number >= attemptsMaxOf(type)
    ? { kind: 'failed' }
    : { kind: 'retry', dueAt: new Date(endedAt.getTime() + waitMs) }
}

/** How a batch of attempts at one endpoint changes its run of consecutive failures. */
export interface FailureRun {
  /** Failures before the first success. They extend the run from before the batch. */
  leading: number
  succeeded: boolean
  /** Failures after the last success; 0 if there was no success. */
  trailing: number
}

export function failureRunOf(outcomes: Iterable<boolean>): FailureRun {
  const run: FailureRun = { leading: 0, succeeded: false, trailing: 0 }
  for (const success of outcomes) {
    if (success) {
      run.succeeded = true
      run.trailing = 0
    } else if (run.succeeded) {
      run.trailing++
    } else {
      run.leading++
    }
  }
  return run
}

/** The `disabled_reason` of an endpoint that failed too often. */
export function disabledReason(fault: OutboundErrorKind, status: number | null, failures: number, since: Date): string {
  return `${failures} ${attemptsFailed} ${formatTime(since)}. The last one ${describeFailure(fault, status)}.`
}

const attemptsFailed = 'attempts in a row have failed since'

/** Whether an endpoint was disabled because it failed too often. Otherwise a person has disabled it. */
export const isDisabledByFailures = (reason: string | null): boolean =>
  reason !== null && new RegExp(`^\\d+ ${attemptsFailed} `).test(reason)

function describeFailure(fault: OutboundErrorKind, status: number | null): string {
  switch (fault) {
    case 'http':
      return `returned status ${status}`
    case 'timeout':
      return 'got no response within 10 seconds (timeout)'
    case 'dns':
      return 'could not resolve the host name (dns)'
    case 'connect':
      return 'could not connect (connect)'
    case 'tls':
      return 'failed: the certificate is not trusted or the TLS handshake failed (tls)'
    case 'blocked':
      return 'was blocked because the address is not allowed (blocked)'
    case 'protocol':
      return 'ended without a valid HTTP response (protocol)'
  }
}
