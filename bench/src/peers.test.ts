import { expect, test } from 'vitest'
import { rowsOf } from './peers.ts'

test('Parley is compared with raw-limit, and with the best of the others in each figure', () => {
  const scenarios = ['shape=1,events=10000,messages=1', 'shape=10,events=20000,messages=1'].concat(
    'shape=1,rate=500,events=4000,messages=1',
  )
  const figures = { 'raw-limit': [1000, 10, 0.1], slow: [400, 20, 0.2], fast: [500, 40, 0.4], parley: [800, 30, 0.3] }
  const runs = scenarios.flatMap((scenario) =>
    Object.entries(figures).map(([target, [eventsPerSecond = 0, e2eP99 = 0, cpuPer1k = 0]]) => ({
      target,
      scenario,
      round: 1,
      eventsPerSecond,
      e2eP99,
      cpuPer1k,
      missing: 0,
      duplicates: 0,
      noisePercent: 2,
    })),
  )
  const rows = rowsOf(runs, ['slow', 'fast'])
  expect(rows.map(({ rounds, base }) => [...rounds, base?.name])).toEqual([
    [800, 'raw-limit'],
    [800, 'fast'],
    [0.3, 'slow'],
    [800, 'raw-limit'],
    [800, 'fast'],
    [0.3, 'slow'],
    [30, 'raw-limit'],
    [30, 'slow'],
  ])
  expect(rows.every(({ noise }) => noise === 2)).toBe(true)
})
