import type { FileLoss } from '@parley/contract/flow-response'

/** How an attempt to fetch a file ended, if not with the file. */
export type FetchFailure =
  /** The network says that there is no such file. */
  | { kind: 'missing'; error: string }
  /** It is there, but not what was announced, or too much. */
  | { kind: 'wrong_hash' | 'too_large' }
  /** Anything that may be better another time. */
  | { kind: 'failed'; error: string; retryAfterMs: number | null }

export type FetchDecision =
  | { kind: 'retry'; at: Date; error: string }
  | { kind: 'gone'; why: FileLoss; error: string | null }

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const waits = [second, 5 * second, 30 * second, 2 * minute, 10 * minute, hour]
const lastWait = 6 * hour

/** What the network denies or garbles so often is taken for what it is. */
const triesOfMissing = 3
const triesOfWrong = 3

/** What to do after the given attempt (1 is the first) failed. */
export function classifyFetchFailure(failure: FetchFailure, attempt: number, now: Date, tryUntil: Date): FetchDecision {
  const error = 'error' in failure ? failure.error : failure.kind
  if (failure.kind === 'too_large') return { kind: 'gone', why: 'too_large', error: null }
  if (failure.kind === 'missing' && attempt >= triesOfMissing) return { kind: 'gone', why: 'missing', error }
  if (failure.kind === 'wrong_hash' && attempt >= triesOfWrong) return { kind: 'gone', why: 'wrong_hash', error: null }
  const asked = failure.kind === 'failed' ? (failure.retryAfterMs ?? 0) : 0
  const at = new Date(now.getTime() + Math.max(asked, waits[attempt - 1] ?? lastWait))
  return at > tryUntil ? { kind: 'gone', why: 'too_late', error } : { kind: 'retry', at, error }
}
