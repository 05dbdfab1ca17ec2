import { expect, test } from 'vitest'
import { isRawNumber, parseExactly, rawNumbersAsText } from './exact-json.ts'

test.each(['9007199254740993', '-12345678901234567890', '1.0', '1e5', '1e400', '0.12345678901234567890', '-0'])(
  '%s is written as it was read',
  (number) => {
    const value = parseExactly(`[${number},{"n":${number}}]`)
    expect(JSON.stringify(value)).toBe(`[${number},{"n":${number}}]`)
    expect(rawNumbersAsText(value)).toEqual([number, { n: number }])
  },
)

test('all other values are plain', () => {
  const value = { n: 41, half: 0.5, big: 9_007_199_254_740_991, text: '9007199254740993', no: null, yes: true }
  const parsed = parseExactly(JSON.stringify(value))
  expect(parsed).toEqual(value)
  expect(Object.values(parsed as object).some(isRawNumber)).toBe(false)
  expect(rawNumbersAsText(parsed)).toEqual(value)
  expect(() => parseExactly('{')).toThrow(SyntaxError)
})
