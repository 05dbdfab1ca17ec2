import { expect, test } from 'vitest'
import { addDecimals, readDecimal, timesDecimal } from './decimal.ts'

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

test('readDecimal takes digits with an optional fraction', () => {
  for (const text of ['0', '9.99', '007', '1.0000000001']) expect(readDecimal(text), text).toBe(text)
  for (const text of ['', '-1', '+1', '1e3', '.5', '5.', '1,5', 'NaN', '1.00000000001', '1'.repeat(16)]) {
    expect(readDecimal(text), text).toBeNull()
  }
})

test.each([
  [9.9, '9.9'],
  [1e-7, '0.0000001'],
  [2.5e-9, '0.0000000025'],
  [1e-11, null],
  [1e21, null],
  [-1, null],
])('the number %d is %s', (number, text) => {
  expect(readDecimal(number)).toBe(text)
})
