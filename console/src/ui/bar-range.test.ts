import { expect, test } from 'vitest'
import { placeLabels, rangeAfterKey } from './bar-range.ts'

const press = (key: string, shiftKey = false) => ({ key, shiftKey })

test('an arrow moves to the next bar, with Shift it extends the range', () => {
  expect(rangeAfterKey({ anchor: 3, end: 3 }, press('ArrowRight'), 10)).toEqual({ anchor: 4, end: 4 })
  expect(rangeAfterKey({ anchor: 3, end: 3 }, press('ArrowLeft', true), 10)).toEqual({ anchor: 3, end: 2 })
  expect(rangeAfterKey({ anchor: 3, end: 1 }, press('ArrowRight'), 10)).toEqual({ anchor: 2, end: 2 })
  expect(rangeAfterKey({ anchor: 3, end: 5 }, press('Home', true), 10)).toEqual({ anchor: 3, end: 0 })
})

test('a range ends at the first and the last bar', () => {
  expect(rangeAfterKey({ anchor: 0, end: 0 }, press('ArrowLeft'), 10)).toEqual({ anchor: 0, end: 0 })
  expect(rangeAfterKey({ anchor: 8, end: 9 }, press('ArrowRight', true), 10)).toEqual({ anchor: 8, end: 9 })
  expect(rangeAfterKey({ anchor: 8, end: 9 }, press('Enter'), 10)).toBeUndefined()
})

test('labels keep a distance, and bars without one have none', () => {
  expect(placeLabels(['Mon', '', 'Tue', '', 'Wed', 'Thu'], 20, 60)).toEqual([0, 4])
  expect(placeLabels(['', 'a', 'b', 'c'], 60, 60)).toEqual([1, 2, 3])
})
