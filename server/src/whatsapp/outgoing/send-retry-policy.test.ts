import { describe, expect, test } from 'vitest'
import { fixture } from '../../../testing/fixtures.ts'
import type { CallOutcome } from '../graph/call.ts'
import { findError, networkErrors } from '../graph/errors.ts'
import { readNetworkError } from '../graph/network-error.ts'
import { classifySendOutcome } from './send-retry-policy.ts'

type Refused = Extract<CallOutcome<never>, { kind: 'refused' }>

function refused(code: number | string, more: Partial<Refused> = {}): Refused {
  const error = { code, title: 't', message: 'm', details: null }
  return { kind: 'refused', status: 400, error, isTransient: false, retryAfterMs: null, ...more }
}

const seconds = (outcome: Refused, attempt: number) => {
  const decision = classifySendOutcome(outcome, attempt)
  return decision.kind === 'retry' ? [decision.scope, decision.afterMs / 1000] : [decision.kind]
}

const holdSeconds = (outcome: Refused) => {
  const decision = classifySendOutcome(outcome, 1)
  return [1, 2, 3].map((failures) => 'holdMs' in decision && decision.holdMs(failures) / 1000)
}

describe("the retry policy for WhatsApp's errors", () => {
  test.each<[number, number, (string | number)[]]>([
    [131056, 1, ['recipient', 1]],
    [131056, 2, ['recipient', 4]],
    [131056, 3, ['recipient', 16]],
    [131056, 8, ['failed']],
    [130429, 1, ['number', 1]],
    [130429, 10, ['number', 60]],
    [131057, 1, ['number', 90]],
    [80007, 1, ['waba', 60]],
    [80008, 1, ['waba', 60]],
    [613, 1, ['waba', 60]],
    [4, 1, ['app', 60]],
    [4, 9, ['app', 3600]],
    [2, 1, ['service', 1]],
    [131016, 2, ['service', 2]],
    [133004, 3, ['service', 4]],
    [131000, 4, ['message', 8]],
    [131000, 5, ['failed']],
    [1, 2, ['message', 2]],
    [1, 3, ['failed']],
  ])('code %i, attempt %i: %j', (code, attempt, expected) => {
    expect(seconds(refused(code), attempt)).toEqual(expected)
  })

  test('these errors are temporary, and all others are final', () => {
    const temporary = [...networkErrors].filter(([, entry]) => entry.temporary).map(([code]) => code)
    expect(temporary.sort((left, right) => left - right)).toEqual([
      1, 2, 4, 613, 80007, 80008, 130429, 131000, 131016, 131056, 131057, 132069, 133004, 134101,
    ])
    for (const [code, entry] of networkErrors) {
      expect(classifySendOutcome(refused(code), 1).kind).toBe(entry.temporary ? 'retry' : 'failed')
    }
    for (const code of [200, 299]) expect(classifySendOutcome(refused(code), 1).kind).toBe('failed')
  })

  test('the scope of an error says what else it affects', () => {
    const scopes = [190, 0, 10, 250, 131042, 133010, 131026, 130497, 131063, 132001, 132000].map(
      (code) => findError({ code }).scope,
    )
    expect(scopes).toEqual([
      'credentials',
      'credentials',
      'credentials',
      'credentials',
      'waba',
      'number',
      'recipient',
      'recipient',
      'template',
      'template',
      'message',
    ])
    expect(findError({ code: 100, subcode: 33 }).scope).toBe('number')
  })

  test('WhatsApp’s own delay is used if it is longer', () => {
    expect(seconds(refused(4, { retryAfterMs: 600_000 }), 1)).toEqual(['app', 600])
    expect(seconds(refused(4, { retryAfterMs: 1 }), 1)).toEqual(['app', 60])
    expect(holdSeconds(refused(4, { retryAfterMs: 600_000 }))).toEqual([600, 600, 600])
  })

  test.each<[string, Refused, number[]]>([
    ['130429', refused(130429), [1, 2, 4]],
    ['4', refused(4), [60, 120, 240]],
    ['190', refused(190), [5, 10, 20]],
    ['131016', refused(131016), [0, 0, 1]],
    ['an unlisted code with HTTP 429', refused(999_999, { status: 429 }), [1, 2, 4]],
  ])('error %s holds longer after each failure in a row', (_, outcome, expected) => {
    expect(holdSeconds(outcome)).toEqual(expected)
    const decision = classifySendOutcome(outcome, 1)
    expect('holdMs' in decision && decision.holdMs(30)).toBeLessThanOrEqual(3_600_000)
  })

  test('an unlisted error is retried only if WhatsApp calls it transient or the status is 429 or 5xx', () => {
    expect(classifySendOutcome(refused(999_999), 1).kind).toBe('failed')
    expect(classifySendOutcome(refused(999_999, { isTransient: true }), 1).kind).toBe('retry')
    expect(classifySendOutcome(refused(999_999, { status: 500 }), 1).kind).toBe('retry')
    expect(seconds(refused(999_999, { status: 429 }), 1)).toEqual(['number', 1])
    expect(classifySendOutcome(refused('http_429', { isTransient: true, status: 429 }), 1).kind).toBe('retry')
    expect(classifySendOutcome(refused('http_404', { status: 404 }), 1).kind).toBe('failed')
  })

  test('every temporary error has a growing delay and a maximum number of attempts', () => {
    for (const entry of networkErrors.values()) {
      if (!entry.temporary) continue
      expect(entry.waitMs(1)).toBeGreaterThanOrEqual(1000)
      expect(entry.waitMs(5)).toBeGreaterThanOrEqual(entry.waitMs(1))
      expect(entry.waitMs(1000)).toBeLessThanOrEqual(5 * 3_600_000)
      expect(Number.isFinite(entry.maxAttempts)).toBe(true)
    }
  })
})

test('a message that was not sent is retried; a message that may have been sent is not', () => {
  expect(classifySendOutcome({ kind: 'unreachable', why: 'ECONNREFUSED' }, 1)).toMatchObject({
    kind: 'retry',
    afterMs: 1000,
  })
  expect(classifySendOutcome({ kind: 'unknown', why: 'timeout', status: null }, 1)).toMatchObject({
    kind: 'unknown',
    error: { code: 'outcome_unknown', details: 'timeout' },
  })
  expect(classifySendOutcome({ kind: 'unreachable', why: 'UND_ERR_INVALID_ARG' }, 1).kind).toBe('failed')
})

test('an error response keeps its code, message and details', () => {
  const { error } = fixture('own/api-error-132000.json') as { error: unknown }
  expect(readNetworkError(error)).toEqual({
    code: 132000,
    title: 'Wrong number of template parameters',
    message: '(#132000) Number of parameters does not match the expected number of params',
    details: 'body: number of localizable_params (1) does not match the expected number of params (3)',
  })
  expect(readNetworkError({ code: '131026', error_data: 'plain' })).toMatchObject({ code: 131026, details: 'plain' })
  expect(readNetworkError({})).toMatchObject({ code: 'unknown' })
  expect(readNetworkError('no')).toBeNull()
})
