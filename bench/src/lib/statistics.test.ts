import { expect, test } from 'vitest'
import { addCounts, median, percentile, ratiosOf } from './statistics.ts'

test('the median is the value in the middle, or the mean of the two in the middle', () => {
  expect(median([3, 1, 2])).toBe(2)
  expect(median([4, 1, 3, 2])).toBe(2.5)
  expect(median([7])).toBe(7)
  expect(median([10, 9, 100])).toBe(10)
  expect(median([])).toBeNaN()
})

test('the median does not sort the values of its caller', () => {
  const values = [3, 1, 2]
  median(values)
  expect(values).toEqual([3, 1, 2])
})

test('a percentile counts the values in order of size, not as text', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index)
  expect(percentile(values, 0.5)).toBe(51)
  expect(percentile(values, 0.99)).toBe(100)
  expect(percentile(values, 1)).toBe(100)
  expect(percentile([9, 10, 100], 0)).toBe(9)
  expect(percentile([], 0.5)).toBeNaN()
})

test('each round is divided by the same round of the base', () => {
  expect(ratiosOf([10, 30], [20, 40])).toEqual([0.5, 0.75])
  expect(ratiosOf([10, 30], [20])).toEqual([0.5, Number.NaN])
})

test('counts are added up by name', () => {
  expect(addCounts([{ 200: 3 }, { 200: 1, 503: 2 }, {}])).toEqual({ 200: 4, 503: 2 })
})
