import { expect, test } from 'vitest'
import { readByteRange } from './byte-range.ts'

test.each([
  [undefined, 10, 'whole'],
  ['bytes=0-', 10, [0, 9]],
  ['bytes=0-0', 10, [0, 0]],
  ['bytes=2-5', 10, [2, 5]],
  ['Bytes = 2 - 5', 10, [2, 5]],
  ['bytes=2-99', 10, [2, 9]],
  ['bytes=-3', 10, [7, 9]],
  ['bytes=-99', 10, [0, 9]],
  ['bytes=10-', 10, 'nothing'],
  ['bytes=-0', 10, 'nothing'],
  ['bytes=0-', 0, 'nothing'],
  ['bytes=-5', 0, 'nothing'],
  ['bytes=5-2', 10, 'whole'],
  ['bytes=0-1,3-4', 10, 'whole'],
  ['bytes=-', 10, 'whole'],
  ['bytes=a-b', 10, 'whole'],
  ['items=0-1', 10, 'whole'],
  [`bytes=${'9'.repeat(40)}-`, 10, 'whole'],
])('Range: %s of %i bytes', (header, size, expected) => {
  const requested = readByteRange(header, size)
  expect(requested.kind === 'part' ? [requested.range.first, requested.range.last] : requested.kind).toEqual(expected)
})
