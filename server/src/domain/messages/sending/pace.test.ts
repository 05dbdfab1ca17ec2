import { expect, test } from 'vitest'
import { networkErrors } from '../../../whatsapp/graph/errors.ts'
import { holdTargetOf, PairPaces, paceOf } from './pace.ts'

test.each([
  [null, 80],
  ['STANDARD', 80],
  ['HIGH', 1000],
  ['BUSINESS_APP', 20],
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

/** What waits when a message gets an error, in addition to the message itself, for every code that the network documents. */
const held = {
  // The message, or messages with the same template: nothing else waits.
  none: [
    1, 100, 131000, 131008, 131009, 131035, 131051, 131052, 131053, 131055, 131060, 131063, 131064, 132000, 132001,
    132005, 132007, 132008, 132012, 132015, 132016, 132018, 132068, 132069, 134100, 134101, 134102, 135000,
    // The recipient. A retry would fail as well, so there is nothing to wait for.
    470, 130472, 130497, 131021, 131026, 131030, 131036, 131047, 131049, 131050, 131062, 137000,
  ],
  pair: [131056],
  sender: [
    33, 368, 130429, 131037, 131045, 131048, 131057, 133000, 133005, 133006, 133008, 133009, 133010, 133015, 133016,
  ],
  connection: [0, 3, 10, 190, 613, 80007, 80008, 131005, 131031, 131042, 131044],
  app: [2, 4, 131016, 133004],
}

test('an error holds only what it applies to, for every code', () => {
  const actual = new Map([...networkErrors].map(([code, entry]) => [code, holdTargetOf(entry.scope, !entry.temporary)]))
  const expected = Object.entries(held).flatMap(([target, codes]) => codes.map((code) => [code, target] as const))
  const byCode = (left: readonly [number, string], right: readonly [number, string]) => left[0] - right[0]
  expect([...actual].sort(byCode)).toEqual(expected.sort(byCode))
})

test('a temporary error of a recipient holds the pair, a final one nothing', () => {
  expect(holdTargetOf('recipient', false)).toBe('pair')
  expect(holdTargetOf('recipient', true)).toBe('none')
})
