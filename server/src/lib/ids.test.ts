import { expect, test } from 'vitest'
import { newUuid, toBase62 } from './ids.ts'

test('UUIDs have version 7, begin with the time, sort in their order, and are random after the counter', () => {
  const at = Date.UTC(2026, 2, 1)
  const made = Array.from({ length: 1000 }, () => newUuid(at))
  for (const each of made) expect(each).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(made[0]?.replace('-', '').slice(0, 12)).toBe(at.toString(16).padStart(12, '0'))
  expect(new Set(made).size).toBe(made.length)
  expect(made.toSorted()).toEqual(made)
  // The first digit after the counter also has the variant, so it has only four values.
  for (let digit = 19; digit < 36; digit++) {
    if (digit !== 23) expect(new Set(made.map((each) => each[digit])).size, `digit ${digit}`).toBeGreaterThan(3)
  }
})

test('more UUIDs than the counter of a millisecond holds still differ and sort in their order', () => {
  const made = Array.from({ length: 10_000 }, () => newUuid(Date.UTC(2026, 2, 2)))
  expect(new Set(made).size).toBe(made.length)
  expect(made.toSorted()).toEqual(made)
})

test('a number in base 62 has the asked number of characters', () => {
  expect(toBase62(0, 3)).toBe('000')
  expect(toBase62(61, 3)).toBe('00z')
  expect(toBase62(62, 3)).toBe('010')
})
