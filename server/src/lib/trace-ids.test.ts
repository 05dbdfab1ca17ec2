import { expect, test } from 'vitest'
import { readTraceparent } from './trace-ids.ts'

const [trace, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']

test.each([
  [`00-${trace}-${span}-01`, true],
  [`00-${trace}-${span}-00`, false],
  // Only the lowest bit says whether it is sampled.
  [`00-${trace}-${span}-fe`, false],
  [`00-${trace}-${span}-03`, true],
  // A version that does not exist yet.
  [`cc-${trace}-${span}-01`, true],
  [`cc-${trace}-${span}-01-what-the-future-will-be`, true],
])('%s', (text, isSampled) => {
  expect(readTraceparent(text)).toEqual({ traceId: trace, spanId: span, isSampled })
})

test.each([
  undefined,
  '',
  `00-${trace}-${span}`,
  `00-${trace}-${span}-01-more`,
  `00-${trace}-${span}-01-`,
  `ff-${trace}-${span}-01`,
  `00-${trace.toUpperCase()}-${span}-01`,
  `00-${'0'.repeat(32)}-${span}-01`,
  `00-${trace}-${'0'.repeat(16)}-01`,
  `00-${trace}-${span}-0g`,
  `00-${trace}-${span}-01, 00-${trace}-${span}-01`,
  ` 00-${trace}-${span}-01`,
  `cc-${trace}-${span}-01.more`,
  `00-${trace}-${span}-01\r\nx: y`,
  '0'.repeat(16_000),
  '-'.repeat(16_000),
])('%s is not a trace', (text) => {
  expect(readTraceparent(text)).toBeNull()
})
