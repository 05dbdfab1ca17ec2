import type { OutboundErrorKind } from '../../../lib/outbound-error.ts'

/** How long after a failure the next attempt is made: after the first attempt's, the second's, and so on. */
const retryAfterMs = [0, 10_000, 60_000, 300_000, 1_800_000, 7_200_000, 21_600_000] as const

/** Attempts of a whole schedule: the first, and one after each of those. */
export const attemptsMax = retryAfterMs.length + 1

/** What follows if every attempt fails at once: this one, due at that time, and all after it. */
export function aheadFrom(number: number, at: Date): { number: number; at: Date }[] {
  const ahead = []
  let atMs = at.getTime()
  for (let next = number; next <= attemptsMax; next++) {
    ahead.push({ number: next, at: new Date(atMs) })
    atMs += retryAfterMs[next - 1] ?? 0
  }
  return ahead
}

/** The endpoint is disabled when this many attempts in a row have failed. */
export const failuresMax = 20

export type Decision = { kind: 'delivered' } | { kind: 'failed' } | { kind: 'retry'; dueAt: Date }

/** What becomes of a delivery after the attempt with this number, which ended at this time. */
export function decide(fault: OutboundErrorKind | null, number: number, endedAt: Date): Decision {
  if (fault === null) return { kind: 'delivered' }
  const waitMs = retryAfterMs[number - 1]
  return waitMs === undefined ? { kind: 'failed' } : { kind: 'retry', dueAt: new Date(endedAt.getTime() + waitMs) }
}

/** What the failures and successes of one endpoint, in their order, do to its run of failures. */
export interface Run {
  /** Failures before the first success: they lengthen the run there was. */
  leading: number
  succeeded: boolean
  /** The longest run that began after a success. */
  longest: number
  /** The run at the end, where there was a success before it; otherwise it is the leading one. */
  trailing: number
}

export function runOf(outcomes: Iterable<boolean>): Run {
  const run: Run = { leading: 0, succeeded: false, longest: 0, trailing: 0 }
  for (const success of outcomes) {
    if (success) {
      run.succeeded = true
      run.trailing = 0
    } else if (run.succeeded) {
      run.trailing++
      run.longest = Math.max(run.longest, run.trailing)
    } else {
      run.leading++
    }
  }
  return run
}

/** What is told of the last failure to whoever wonders why the endpoint is disabled. */
export function reasonFor(fault: OutboundErrorKind, status: number | null, failures: number, since: Date): string {
  return `${failures} attempts in a row have failed since ${since.toISOString()}; the last one ${wordsFor(fault, status)}.`
}

function wordsFor(fault: OutboundErrorKind, status: number | null): string {
  switch (fault) {
    case 'http':
      return `was answered with status ${status}`
    case 'timeout':
      return 'had no answer within ten seconds (timeout)'
    case 'dns':
      return 'found no address for its name (dns)'
    case 'connect':
      return 'could not connect (connect)'
    case 'tls':
      return 'was not trusted: the certificate or the handshake failed (tls)'
    case 'blocked':
      return 'led to an address that must not be reached (blocked)'
    case 'protocol':
      return 'had no proper answer before the connection ended (protocol)'
  }
}
