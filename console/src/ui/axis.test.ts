import { expect, test } from 'vitest'
import { axisTop } from './axis.ts'

test('the middle of an axis is a whole number', () => {
  for (let most = 0; most <= 1000; most++) {
    const top = axisTop(most)
    expect(top).toBeGreaterThanOrEqual(most)
    expect(Number.isInteger(top / 2), `${most} has the top ${top}`).toBe(true)
  }
})
