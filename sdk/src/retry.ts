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
  if (error.retryAfter === null) {
    const ceiling = Math.min(8000, 500 * 2 ** (made - 1))
    return Math.min(maxWaitMs, ceiling / 2 + (random() * ceiling) / 2)
  }
  const retryAfterMs = error.retryAfter * 1000
  // Never sooner than Retry-After, with jitter so that clients do not retry at the same moment.
  return retryAfterMs > maxWaitMs ? null : retryAfterMs + random() * Math.min(1000, 100 + retryAfterMs / 10)
}

function isRetryable({ status, code }: ParleyError): boolean {
  return retryableStatuses.has(status) || retryableCodes.has(code)
}

/** Waits. If the signal aborts first, throws the signal's reason. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
