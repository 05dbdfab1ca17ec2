import { expect, test } from 'vitest'
import { ParleyError, retryAfterOf } from './error.ts'
import { waitBeforeRetry } from './retry.ts'

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
  for (const seconds of [0, 1, 30, 60]) {
    expect(waitBeforeRetry(rateLimited(seconds), 1, rules, () => 0)).toBe(seconds * 1000)
    expect(waitBeforeRetry(rateLimited(seconds), 1, rules, () => 1)).toBeGreaterThan(seconds * 1000)
  }
  expect(waitBeforeRetry(rateLimited(66), 1, rules)).toBe(null)
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
