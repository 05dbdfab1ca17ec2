import { expect, test } from 'vitest'
import type { ConnectionFacts } from '../connections/configure/inspect.ts'
import type { Connection } from '../connections/connections.ts'
import { accountChecks } from './account-checks.ts'
import { checkDeprecations, checkGraphVersion } from './deprecations.ts'

const now = new Date('2026-11-15T09:00:00Z')
const connection = { id: 'c-1', wabaId: '102', appId: 'a-1' } as Connection
const callbackUrl = 'https://parley.example/network/whatsapp/a-1'
const isOurs = (url: string) => url === callbackUrl
const right: ConnectionFacts = {
  token: {
    kind: 'ok',
    value: {
      isValid: true,
      problem: null,
      metaAppId: '600',
      expiresAt: null,
      scopes: [],
      wabaIds: null,
      missingScopes: [],
    },
  },
  subscription: { kind: 'ok', value: { callbackUrl, isActive: true, fields: [], missing: [] } },
  account: { kind: 'ok', value: { isSubscribed: true, overrideUrl: null } },
  numbers: { kind: 'ok', value: [] },
}

const check = (meta: ConnectionFacts) =>
  accountChecks
    .flatMap(({ run }) => run({ now, connection, phoneNumberId: null, callbackUrl, isOurs, meta }))
    .map((each) => [each.station, each.verdict])

const withToken = (change: object): ConnectionFacts =>
  right.token.kind === 'ok' ? { ...right, token: { kind: 'ok', value: { ...right.token.value, ...change } } } : right

test('an account that is set up passes every check', () => {
  expect(check(right).every(([, verdict]) => verdict === 'ok')).toBe(true)
  expect(check(right)).toHaveLength(accountChecks.length)
})

test.each([
  ['2026-11-14T00:00:00Z', false, 'problem'],
  ['2026-11-28T00:00:00Z', true, 'warning'],
  ['2026-11-30T00:00:00Z', true, 'ok'],
])('a token that expires at %s', (expiresAt, isValid, verdict) => {
  expect(check(withToken({ expiresAt: new Date(expiresAt), isValid }))[0]).toEqual(['access tokens', verdict])
})

test.each([
  [190, 'problem'],
  [10, 'problem'],
  [200, 'problem'],
  [4, 'unknown'],
  [80008, 'unknown'],
  [null, 'unknown'],
])('if the numbers cannot be listed because of error %s, the token is a %s', (code, verdict) => {
  const failed = { kind: 'failed', why: 'x', code } as const
  expect(check({ ...right, token: failed, numbers: failed })[0]).toEqual(['access tokens', verdict])
  expect(check({ ...right, numbers: failed })[0]).toEqual(['access tokens', verdict === 'problem' ? verdict : 'ok'])
})

test('a token without a permission is a problem', () => {
  expect(check(withToken({ missingScopes: ['whatsapp_business_messaging'] }))[0]).toEqual(['access tokens', 'problem'])
  expect(check(withToken({ isForeign: true }))[0]).toEqual(['access tokens', 'problem'])
})

test('missing fields are fixed only if the callback is ours', () => {
  const missing = (url: string) => ({
    ...right,
    subscription: { kind: 'ok' as const, value: { callbackUrl: url, isActive: true, fields: [], missing: ['flows'] } },
  })
  const fixOf = (meta: ConnectionFacts) =>
    accountChecks
      .flatMap(({ run }) => run({ now, connection, phoneNumberId: null, callbackUrl, isOurs, meta }))
      .find(({ station }) => station === 'webhook fields')?.fix
  expect(fixOf(missing(callbackUrl))).toEqual({ kind: 'subscribe_fields', connectionId: 'c-1' })
  expect(fixOf(missing('https://other.example/'))).toBeNull()
})

const other = 'https://other.example/'

test.each([
  { app: other, account: null, number: null, verdict: 'problem' },
  { app: other, account: callbackUrl, number: null, verdict: 'warning' },
  { app: other, account: null, number: callbackUrl, verdict: 'warning' },
  { app: null, account: callbackUrl, number: null, verdict: 'warning' },
  { app: callbackUrl, account: other, number: callbackUrl, verdict: 'ok' },
  { app: callbackUrl, account: other, number: null, verdict: 'problem' },
  { app: callbackUrl, account: callbackUrl, number: other, verdict: 'problem' },
  { app: callbackUrl, account: null, number: null, verdict: 'ok' },
])('callbacks: app $app, account $account, number $number', ({ app, account, number, verdict }) => {
  const numbers = [{ phoneNumber: '15550780001', status: 'CONNECTED', overrideUrl: number }]
  const found = check({
    ...right,
    subscription: { kind: 'ok', value: { callbackUrl: app, isActive: true, fields: [], missing: [] } },
    account: { kind: 'ok', value: { isSubscribed: true, overrideUrl: account } },
    numbers: { kind: 'ok', value: numbers as never },
  })
  expect(found.filter(([station]) => station === 'callbacks')).toEqual([['callbacks', verdict]])
})

test.each([
  [{ status: 'DISCONNECTED', hasPin: true }, 'problem', 'sender register 15550780001'],
  [{ status: 'CONNECTED', hasPin: false }, 'warning', 'sender pin 15550780001'],
  [{ status: 'CONNECTED', hasPin: null }, 'ok', ''],
  [{ status: 'PENDING', hasPin: null }, 'problem', 'sender register 15550780001'],
  [{ status: 'BANNED', hasPin: true }, 'problem', 'WhatsApp Manager'],
  [{ status: 'UNKNOWN', hasPin: null }, 'unknown', ''],
])('a number with %o', (state, verdict, command) => {
  const number = { phoneNumber: '15550780001', overrideUrl: null, ...state } as never
  const meta = { ...right, numbers: { kind: 'ok' as const, value: [number] } }
  const station = accountChecks
    .flatMap(({ run }) => run({ now, connection, phoneNumberId: null, callbackUrl, isOurs, meta }))
    .find((each) => each.station === 'numbers')
  expect(station?.verdict).toBe(verdict)
  expect(station?.remedy ?? '').toContain(command)
})

test('a number that Meta does not list is a problem, an account without numbers is not', () => {
  const numbersOf = (phoneNumberId: string | null) =>
    accountChecks
      .flatMap(({ run }) => run({ now, connection, phoneNumberId, callbackUrl, isOurs, meta: right }))
      .find(({ station }) => station === 'numbers')
  expect(numbersOf(null)?.verdict).toBe('ok')
  expect(numbersOf('106')).toMatchObject({
    verdict: 'problem',
    message: 'Meta does not list the number in account 102.',
  })
})

test.each([
  ['v25.0', '2028-04-01', 'ok'],
  ['v25.0', '2028-05-01', 'warning'],
  ['v25.0', '2028-08-01', 'problem'],
  ['v26.0', '2026-11-15', 'ok'],
  ['v99.0', '2026-11-15', 'warning'],
])('version %s of the Graph API on %s', (version, day, verdict) => {
  expect(checkGraphVersion({ now: () => new Date(day) } as never, version).verdict).toBe(verdict)
})

test('a deprecation with a remedy is a warning 90 days before its end', () => {
  const ends = new Date('2027-03-01')
  const on = (day: string) =>
    checkDeprecations({ now: () => new Date(day) } as never, [{ what: 'x', ends, effect: 'y.', remedy: 'Do z.' }])
  expect(on('2026-11-15').verdict).toBe('ok')
  expect(on('2027-02-01')).toMatchObject({ verdict: 'warning', remedy: 'Do z.' })
})
