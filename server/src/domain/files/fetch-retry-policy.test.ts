import { expect, test } from 'vitest'
import { classifyFetchFailure } from './fetch-retry-policy.ts'

const now = new Date('2026-11-15T09:00:00.000Z')
const inDays = (days: number) => new Date(now.getTime() + days * 86_400_000)
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000)
const failed = { kind: 'failed', error: 'timeout', retryAfterMs: null } as const

test.each([
  [1, 1],
  [2, 5],
  [3, 30],
  [4, 120],
  [5, 600],
  [6, 3600],
  [7, 21_600],
  [50, 21_600],
])('attempt %i, if it fails, is followed by the next after %i seconds', (attempt, seconds) => {
  expect(classifyFetchFailure(failed, attempt, now, inDays(7))).toEqual({
    kind: 'retry',
    at: later(seconds),
    error: 'timeout',
  })
})

test('retry-after of the network is respected if it is longer than the usual wait', () => {
  const decide = (retryAfterMs: number) => classifyFetchFailure({ ...failed, retryAfterMs }, 2, now, inDays(7))
  expect(decide(90_000)).toMatchObject({ at: later(90) })
  expect(decide(10)).toMatchObject({ at: later(5) })
})

test('a missing file or wrong hash is retried twice, a file that is too large never', () => {
  const missing = { kind: 'missing', error: '100: Invalid parameter' } as const
  for (const attempt of [1, 2]) {
    expect(classifyFetchFailure(missing, attempt, now, inDays(7)).kind).toBe('retry')
    expect(classifyFetchFailure({ kind: 'wrong_hash' }, attempt, now, inDays(7)).kind).toBe('retry')
  }
  expect(classifyFetchFailure(missing, 3, now, inDays(7))).toEqual({
    kind: 'gone',
    why: 'missing',
    error: missing.error,
  })
  expect(classifyFetchFailure({ kind: 'wrong_hash' }, 3, now, inDays(7))).toMatchObject({
    kind: 'gone',
    why: 'wrong_hash',
  })
  expect(classifyFetchFailure({ kind: 'too_large' }, 1, now, inDays(7))).toMatchObject({
    kind: 'gone',
    why: 'too_large',
  })
})

test('no retry is scheduled after the network has deleted the file', () => {
  expect(classifyFetchFailure(failed, 7, now, inDays(0.1))).toEqual({ kind: 'gone', why: 'too_late', error: 'timeout' })
})
