import { expect, onTestFinished, test, vi } from 'vitest'
import { ParleyError, retryAfterOf } from './error.ts'
import { pause, waitBeforeReading, waitBeforeRetry } from './retry.ts'

const rules = { maxRetries: 5, maxWaitMs: 65_000 }
const lost = new ParleyError('', { code: 'connection_failed' })
const rateLimited = (retryAfter: number) => new ParleyError('', { code: 'rate_limited', status: 429, retryAfter })

test('waits grow exponentially, with jitter between half and all of the wait', () => {
  const waits = (random: number) => [1, 2, 3, 4, 5].map((made) => waitBeforeRetry(lost, made, rules, () => random))
  expect(waits(0)).toEqual([250, 500, 1000, 2000, 4000])
  expect(waits(1)).toEqual([500, 1000, 2000, 4000, 8000])
  expect(waitBeforeRetry(lost, 6, rules)).toBe(null)
})

test('the wait is never shorter than Retry-After', () => {
  for (const seconds of [1, 30, 60]) {
    expect(waitBeforeRetry(rateLimited(seconds), 1, rules, () => 0)).toBe(seconds * 1000)
    expect(waitBeforeRetry(rateLimited(seconds), 1, rules, () => 1)).toBeGreaterThan(seconds * 1000)
  }
  expect(waitBeforeRetry(rateLimited(66), 1, rules)).toBe(null)
  expect(waitBeforeReading(rateLimited(66), 1, () => 0)).toBe(66_000)
})

test('a reader of events waits for up to ten minutes; a longer Retry-After is an error', () => {
  expect(waitBeforeReading(rateLimited(600), 1, () => 0)).toBe(600_000)
  expect(waitBeforeReading(rateLimited(601), 1)).toBe(null)
  expect(waitBeforeReading(rateLimited(Number('9'.repeat(400))), 1)).toBe(null)
})

test('a Retry-After of 0, or in the past, does not make the waits shorter', () => {
  const waits = [1, 2, 3].map((made) => waitBeforeRetry(rateLimited(0), made, rules, () => 0))
  expect(waits).toEqual([250, 500, 1000])
  expect([1, 4, 20].map((failures) => waitBeforeReading(rateLimited(0), failures, () => 0))).toEqual([
    250, 2000, 15_000,
  ])
})

test('a wait that is longer than a timer allows does not end immediately', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  for (const seconds of [3_000_000, Number('9'.repeat(400))]) {
    let hasEnded = false
    const anyWait = { maxRetries: 5, maxWaitMs: Number.POSITIVE_INFINITY }
    void pause(waitBeforeRetry(rateLimited(seconds), 1, anyWait) ?? 0, undefined).then(() => {
      hasEnded = true
    })
    await vi.advanceTimersByTimeAsync(24 * 3600_000)
    expect(hasEnded).toBe(false)
  }
})

test('other errors are not retried', () => {
  expect(waitBeforeRetry(new TypeError('a bug'), 1, rules)).toBe(null)
  expect(waitBeforeRetry(new ParleyError('', { code: 'not_found', status: 404 }), 1, rules)).toBe(null)
})

test.each([
  ['7', 7],
  ['Sun, 15 Nov 2026 09:00:05 GMT', 5],
  ['Sun, 15 Nov 2026 08:00:00 GMT', 0],
  ['soon', null],
])('Retry-After: %s', (text, seconds) => {
  const headers = new Headers({ 'retry-after': text })
  expect(retryAfterOf({ headers }, Date.parse('2026-11-15T09:00:00.000Z'))).toBe(seconds)
})
