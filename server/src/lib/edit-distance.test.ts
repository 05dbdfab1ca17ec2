import { expect, test } from 'vitest'
import { editDistance } from './edit-distance.ts'

test.each([
  ['send', 'send', 0],
  ['send', 'sned', 1],
  ['send', 'sends', 1],
  ['send', 'end', 1],
  ['send', 'sand', 1],
  ['webhook', 'wbehok', 2],
  ['', 'abc', 3],
])('from "%s" to "%s" it is %i, in both directions', (one, other, distance) => {
  expect([editDistance(one, other), editDistance(other, one)]).toEqual([distance, distance])
})

test('above the limit it is one more than the limit', () => {
  expect(editDistance('message', 'webhook', 2)).toBe(3)
  expect(editDistance('a', 'abcdef', 2)).toBe(3)
  expect(editDistance('sand', 'send', 1)).toBe(1)
})
