import type { FileLoss } from '@parley/contract/flow-response'

/** Why an attempt to fetch a file failed. */
export type FetchFailure =
  /** The network does not have the file. */
  | { kind: 'missing'; error: string }
  /** The file does not match the announced hash, or is too large. */
  | { kind: 'wrong_hash' | 'too_large' }
  /** Any failure that may be temporary. */
  | { kind: 'failed'; error: string; retryAfterMs: number | null }

export type FetchDecision =
  | { kind: 'retry'; at: Date; error: string }
  | { kind: 'gone'; why: FileLoss; error: string | null }

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const waits = [second, 5 * second, 30 * second, 2 * minute, 10 * minute, hour]
const lastWait = 6 * hour

/** After this many attempts, a missing file or a wrong hash is final. */
const missingAttemptsMax = 3
const wrongHashAttemptsMax = 3

/** Decides what follows a failed attempt (1 is the first). */
export function classifyFetchFailure(failure: FetchFailure, attempt: number, now: Date, tryUntil: Date): FetchDecision {
  const error = 'error' in failure ? failure.error : failure.kind
  if (failure.kind === 'too_large') return { kind: 'gone', why: 'too_large', error: null }
  if (failure.kind === 'missing' && attempt >= missingAttemptsMax) return { kind: 'gone', why: 'missing', error }
  if (failure.kind === 'wrong_hash' && attempt >= wrongHashAttemptsMax)
    return { kind: 'gone', why: 'wrong_hash', error: null }
  const retryAfterMs = failure.kind === 'failed' ? (failure.retryAfterMs ?? 0) : 0
  const at = new Date(now.getTime() + Math.max(retryAfterMs, waits[attempt - 1] ?? lastWait))
  return at > tryUntil ? { kind: 'gone', why: 'too_late', error } : { kind: 'retry', at, error }
}
