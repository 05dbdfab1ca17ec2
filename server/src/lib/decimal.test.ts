import { expect, test } from 'vitest'
import { addDecimals, isDecimal, timesDecimal } from './decimal.ts'

test.each([
  ['0.1', '0.2', '0.3'],
  ['9.99', '0.01', '10.00'],
  ['1', '2.5', '3.5'],
  ['999999999999999', '0.0000000001', '999999999999999.0000000001'],
  ['0', '0', '0'],
  ['0.05', '0.005', '0.055'],
])('%s + %s = %s', (left, right, sum) => {
  expect(addDecimals(left, right)).toBe(sum)
})

test.each([
  ['9.99', 3, '29.97'],
  ['0.01', 100, '1.00'],
  ['0.005', 3, '0.015'],
  ['35', 2, '70'],
  ['19.99', 0, '0.00'],
])('%s × %i = %s', (amount, count, product) => {
  expect(timesDecimal(amount, count)).toBe(product)
})

test('isDecimal accepts only digits with an optional fraction', () => {
  for (const text of ['0', '9.99', '007', '1.0000000001']) expect(isDecimal(text), text).toBe(true)
  for (const text of ['', '-1', '+1', '1e3', '.5', '5.', '1,5', 'NaN', '1.00000000001', '1'.repeat(16)]) {
    expect(isDecimal(text), text).toBe(false)
  }
})
