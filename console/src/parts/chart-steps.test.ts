import { expect, test } from 'vitest'
import { formatClock, formatShortDay } from '../lib/format.ts'
import { barsOf, stepsOf } from './chart-steps.ts'

const from = '2026-11-19T06:00:00.000Z'

test.each([
  [1, '2026-11-19T07:00:00.000Z', formatClock],
  [5, '2026-11-19T11:00:00.000Z', formatClock],
  [6, '2026-11-19T12:00:00.000Z', formatShortDay],
  [24, '2026-11-20T06:00:00.000Z', formatShortDay],
])('a step of %i hours has its end, and the time or the day as its label', (hours, to, format) => {
  expect(stepsOf({ steps: [from], step_hours: hours })).toMatchObject([
    { key: from, from, to, label: format(new Date(from)) },
  ])
})

test('a bar has a value of each series, and 0 where there is none', () => {
  const steps = stepsOf({ steps: [from, '2026-11-19T07:00:00.000Z'], step_hours: 1 })
  expect(barsOf(steps, { sent: [1, 2], failed: [3], total: 6 }).map(({ values }) => values)).toEqual([
    { sent: 1, failed: 3 },
    { sent: 2, failed: 0 },
  ])
})
