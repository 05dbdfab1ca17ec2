import { expect, test } from 'vitest'
import { changeOf, elapsedOf, pointsOf, sumUntil } from './change.ts'

test.each([
  [112, 100, { direction: 'up', amount: '12%' }],
  [75, 100, { direction: 'down', amount: '25%' }],
  [0, 40, { direction: 'down', amount: '100%' }],
  [1001, 1000, { direction: 'same', amount: '' }],
  [1200, 100, { direction: 'up', amount: '12 times' }],
  [5, 0, null],
  [0, 0, null],
  [null, 5, null],
  [5, null, null],
] as const)('%s after %s', (now, before, change) => {
  expect(changeOf(now, before)).toEqual(change)
})

test.each([
  [0.992, 0.988, { direction: 'up', amount: '0.4 pt' }],
  [0.97, 0.98, { direction: 'down', amount: '1 pt' }],
  [1, 1, { direction: 'same', amount: '' }],
  [1, null, null],
] as const)('the ratio %s after %s', (now, before, change) => {
  expect(pointsOf(now, before)).toEqual(change)
})

test('the period before counts up to the same moment of its last step', () => {
  const steps = ['2026-11-15T06:00:00.000Z', '2026-11-15T12:00:00.000Z']
  const elapsed = elapsedOf({ steps, step_hours: 6 }, Date.parse('2026-11-15T13:30:00.000Z'))
  expect(elapsed).toBe(0.25)
  expect(sumUntil([10, 20, 40], elapsed)).toBe(40)
  expect(elapsedOf({ steps, step_hours: 6 }, Date.parse('2026-11-16T00:00:00.000Z'))).toBe(1)
  expect(elapsedOf({ steps, step_hours: 6 }, Date.parse('2026-11-15T11:59:00.000Z'))).toBe(0)
})
