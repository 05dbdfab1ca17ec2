/**
 * When a request is retried. Only idempotent requests are: reads, and sends with an idempotency key. Only temporary errors
 * are: an exceeded rate limit, a service or proxy that is unavailable, a network error, and an earlier attempt with the same
 * idempotency key that is still in progress.
 */
import { ParleyError } from './error.ts'

const retryableStatuses = new Set([408, 429, 502, 503, 504])
const retryableCodes = new Set(['connection_failed', 'timeout', 'idempotency_in_progress'])

export interface RetryRules {
  maxRetries: number
  /** If `Retry-After` is longer than this, the request fails immediately. */
  maxWaitMs: number
}

/** How many milliseconds to wait before the next attempt; null to give up. `made` is the number of attempts so far. */
export function waitBeforeRetry(
  error: unknown,
  made: number,
  { maxRetries, maxWaitMs }: RetryRules,
  random: () => number = Math.random,
): number | null {
  if (!(error instanceof ParleyError) || made > maxRetries || !isRetryable(error)) return null
  const backOffMs = Math.min(maxWaitMs, backOff(made, 8000, random))
  if (error.retryAfter === null) return backOffMs
  return error.retryAfter * 1000 > maxWaitMs ? null : Math.max(backOffMs, afterRetryAfter(error.retryAfter, random))
}

const longestBackOffMs = 30_000
/** A program that waits for hours looks as if it hung, so a longer `Retry-After` is an error. */
const longestRetryAfterSeconds = 600

/**
 * How many milliseconds a reader of events waits before it reads again; null if the error will not go away soon. Unlike other
 * requests it retries without a limit, and after any error of the service.
 */
export function waitBeforeReading(error: unknown, failures: number, random: () => number = Math.random): number | null {
  if (!(error instanceof ParleyError) || !(isRetryable(error) || error.status >= 500)) return null
  const backOffMs = backOff(failures, longestBackOffMs, random)
  if (error.retryAfter === null) return backOffMs
  if (error.retryAfter > longestRetryAfterSeconds) return null
  // A service that says "now" each time is not asked more and more often for that.
  return Math.max(backOffMs, afterRetryAfter(error.retryAfter, random))
}

/** Half a second after the first failure, then twice as long after each, with jitter. */
function backOff(failures: number, longestMs: number, random: () => number): number {
  const ceiling = Math.min(longestMs, 500 * 2 ** (failures - 1))
  return ceiling / 2 + (random() * ceiling) / 2
}

/** Never sooner than Retry-After, with jitter so that clients do not retry at the same moment. */
function afterRetryAfter(seconds: number, random: () => number): number {
  return seconds * 1000 + random() * Math.min(1000, 100 + seconds * 100)
}

function isRetryable({ status, code }: ParleyError): boolean {
  return retryableStatuses.has(status) || retryableCodes.has(code)
}

/** The longest that a timer can wait, about 24 days. With a longer delay it would fire immediately. */
export const longestTimerMs = 2 ** 31 - 1

/** Waits. If the signal aborts first, throws the signal's reason. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', stop)
        resolve()
      },
      Math.min(ms, longestTimerMs),
    )
    signal?.addEventListener('abort', stop, { once: true })
  })
}
