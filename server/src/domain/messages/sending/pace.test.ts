import { expect, test } from 'vitest'
import { holdMs, holdTargetOf, PairPaces, paceOf } from './pace.ts'

test.each([
  [null, 80],
  ['STANDARD', 80],
  ['HIGH', 1000],
])('a number with throughput %s never sends more than %i messages within a second', (throughput, perSecond) => {
  const { gapSeconds, burst } = paceOf(throughput)
  expect(Math.floor(1 / gapSeconds) + burst).toBeLessThanOrEqual(perSecond)
  expect(1 / gapSeconds).toBeGreaterThan(perSecond * 0.85)
})

test('a pair may send 45 messages at once, then one in six seconds, and other pairs are independent', () => {
  const pairs = new PairPaces()
  const start = 1_000_000
  for (let n = 0; n < 45; n++) expect(pairs.take('a', '1', start)).toEqual({ taken: true })
  expect(pairs.take('a', '1', start)).toEqual({ taken: false, retryAtMs: start + 6000 })
  expect(pairs.take('a', '1', start + 5999)).toMatchObject({ taken: false })
  expect(pairs.take('a', '1', start + 6000)).toEqual({ taken: true })
  expect(pairs.take('a', '1', start + 6000)).toMatchObject({ taken: false })
  expect(pairs.take('a', '2', start)).toEqual({ taken: true })
  expect(pairs.take('b', '1', start)).toEqual({ taken: true })
})

test.each([
  ['message', false, 'none'],
  ['recipient', false, 'pair'],
  ['recipient', true, 'none'],
  ['number', true, 'sender'],
  ['waba', false, 'connection'],
  ['credentials', true, 'connection'],
  ['app', false, 'app'],
] as const)('an error of scope %s (final: %s) holds %s', (scope, isFinal, held) => {
  expect(holdTargetOf(scope, isFinal)).toBe(held)
})

test.each([
  [130429, [1_000, 2_000, 4_000]],
  [4, [60_000, 120_000, 240_000]],
  [190, [5_000, 10_000, 20_000]],
  ['unreachable', [5_000, 10_000, 20_000]],
])('error %s is held longer after each failure', (code, waits) => {
  expect([1, 2, 3].map((failures) => holdMs(code, failures))).toEqual(waits)
  expect(holdMs(code, 30)).toBeLessThanOrEqual(3_600_000)
})
