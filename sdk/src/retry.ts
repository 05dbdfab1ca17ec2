/**
 * When a call is made again. Only calls that may be repeated are: reads, and sends, which go under an idempotency key. Worth
 * repeating is what passes by itself: a budget used up, a service or a proxy that cannot answer just now, a fault of the
 * network, and a first try under the same idempotency key that is still under way.
 */
import { ParleyError } from './error.ts'

const passingStatuses = new Set([408, 429, 502, 503, 504])
const passingCodes = new Set(['connection_failed', 'timeout', 'idempotency_in_progress'])

export interface RetryRules {
  maxRetries: number
  /** A call that the service asks to wait for longer than this fails at once. */
  maxWaitMs: number
}

/** How long to wait before the next try, in milliseconds; null if there is none. `made` counts the tries so far. */
export function waitBeforeRetry(
  error: unknown,
  made: number,
  { maxRetries, maxWaitMs }: RetryRules,
  random: () => number = Math.random,
): number | null {
  if (!(error instanceof ParleyError) || made > maxRetries || !isPassing(error)) return null
  if (error.retryAfter === null) {
    const ceiling = Math.min(8000, 500 * 2 ** (made - 1))
    return Math.min(maxWaitMs, ceiling / 2 + (random() * ceiling) / 2)
  }
  const asked = error.retryAfter * 1000
  // Never sooner than asked for, and not all callers in the same moment.
  return asked > maxWaitMs ? null : asked + random() * Math.min(1000, 100 + asked / 10)
}

function isPassing({ status, code }: ParleyError): boolean {
  return passingStatuses.has(status) || passingCodes.has(code)
}

/** Waits, unless the signal ends it first; then it throws what the signal says. */
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
