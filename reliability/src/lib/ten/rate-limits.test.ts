import { expect, test } from 'vitest'
import { findExceeded, type LimitedResponse } from './rate-limits.ts'

const limit = 3

/** Responses that were let through in a window which opened at `openedMs`, with this many requests left after each. */
const passed = (openedMs: number, ...remaining: number[]): LimitedResponse[] =>
  remaining.map((left, index) => {
    const sentMs = openedMs + index * 1_000
    return { key: 'key', sentMs, receivedMs: sentMs + 20, status: 200, remaining: left, resetSeconds: 60 - index }
  })

test('windows within the limit are fine, even if they follow each other', () => {
  expect(findExceeded([...passed(0, 2, 1, 0), ...passed(61_000, 2, 1, 0)], limit, [])).toEqual([])
})

test('a window with too many requests, or with a place that two of them got, is found', () => {
  expect(findExceeded(passed(0, 2, 1, 0, 0), limit, [])).toHaveLength(1)
  expect(findExceeded(passed(0, 2, 2), limit, [])).toHaveLength(1)
})

test('after a crash of PostgreSQL windows start again', () => {
  const responses = [...passed(0, 2, 1, 0), ...passed(12_000, 2, 1, 0)]
  expect(findExceeded(responses, limit, [])).toHaveLength(1)
  expect(findExceeded(responses, limit, [7_000])).toEqual([])
})

test('requests that were rejected or got no response do not count', () => {
  const rejected = passed(0, 0, 0, 0, 0).map((each, index) => ({ ...each, status: index % 2 ? 429 : 503 }))
  expect(findExceeded([...passed(0, 2, 1, 0), ...rejected], limit, [])).toEqual([])
})
