import { expect, test } from 'vitest'
import { useHouse } from '../../../testing/house.ts'
import { loggedRequest } from '../../../testing/log.ts'
import { rawAnswer } from '../../../testing/raw.ts'
import { expectRefusal, type Refused } from '../../../testing/refusal.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { suspendWorkspace } from '../workspaces/workspaces.ts'
import { revokeKey } from './keys.ts'
import { newSecret } from './secret.ts'

const house = useHouse()

const bearer = { 'www-authenticate': 'Bearer' }
const deadBearer = { 'www-authenticate': 'Bearer error="invalid_token"' }
const notAKey: Refused = { code: 'invalid_key', message: 'The API key is not valid.', headers: bearer }

const known = newSecret()
const lastOther = known.endsWith('0') ? '1' : '0'

test.each<[way: string, authorization: string]>([
  ['empty', ''],
  ['only the word Bearer', 'Bearer'],
  ['Bearer and a space', 'Bearer '],
  ['not Bearer', `Basic ${btoa(`${known}:`)}`],
  ['a key without Bearer', known],
  ['a key under another scheme', `Token ${known}`],
  ['another prefix', `Bearer ${known.replace('prl_live_', 'prl_test_')}`],
  ['one character short', `Bearer ${known.slice(0, -1)}`],
  ['one character long', `Bearer ${known}a`],
  ['a wrong checksum', `Bearer ${known.slice(0, -1)}${lastOther}`],
  ['a character outside base62', `Bearer ${known.slice(0, 20)}-${known.slice(21)}`],
  ['something after the key', `Bearer ${known} ${known}`],
  ['a comma after the key', `Bearer ${known},`],
  ['well-formed but unknown', `Bearer ${newSecret()}`],
])('an Authorization header that is no key of the service is refused: %s', async (_way, authorization) => {
  const answer = await house.call('/v1/me', { headers: { authorization } })
  expectRefusal(answer, notAKey)
  expect(answer.headers.get('ratelimit-limit')).toBe('600')
})

test('without an Authorization header the message says so', async () => {
  expectRefusal(await house.call('/v1/me'), {
    code: 'invalid_key',
    message: 'The Authorization header is missing.',
    headers: bearer,
  })
})

test('two Authorization headers are refused, in either order and even when both hold the same key', async () => {
  const { secret } = await newWorkspace(house)
  const get = (...values: string[]) =>
    rawAnswer(
      house.url,
      `GET /v1/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${values.map((v) => `Authorization: ${v}\r\n`).join('')}\r\n`,
    )
  expect((await get(`Bearer ${secret}`)).status).toBe(200)
  for (const values of [
    [`Bearer ${secret}`, `Bearer ${secret}`],
    [`Bearer ${secret}`, 'Bearer nonsense'],
    ['Bearer nonsense', `Bearer ${secret}`],
    ['', `Bearer ${secret}`],
    [`Bearer ${secret}`, ''],
  ]) {
    expectRefusal(await get(...values), notAKey)
  }
})

test.each(['Bearer', 'bearer', 'BEARER'])('the scheme is read in any case: %s', async (scheme) => {
  const { secret } = await newWorkspace(house)
  const { status } = await house.call('/v1/me', { headers: { authorization: `${scheme} ${secret}` } })
  expect(status).toBe(200)
})

test('a revoked key is told so, with when', async () => {
  const workspace = await newWorkspace(house)
  const { revokedAt } = await revokeKey(house.db, house.clock, workspace.key.id)
  const answer = await workspace.call('/v1/me')
  expectRefusal(answer, {
    code: 'key_revoked',
    details: { key_id: workspace.key.id, revoked_at: revokedAt?.toISOString() },
    headers: deadBearer,
  })
  expect(await loggedRequest(house, answer)).toMatchObject({
    workspace_id: workspace.id,
    key_id: workspace.key.id,
    code: 'key_revoked',
  })
})

test('a key works until just before its expiry and no longer at it', async () => {
  const workspace = await newWorkspace(house)
  const expiresAt = new Date(house.clock.now().getTime() + 5_000)
  const { key, secret } = await workspace.newKey({ expiresAt })
  house.clock.forward({ ms: 4_999 })
  expect((await house.call('/v1/me', { key: secret })).status).toBe(200)
  house.clock.forward({ ms: 1 })
  expectRefusal(await house.call('/v1/me', { key: secret }), {
    code: 'key_expired',
    details: { key_id: key.id, expired_at: expiresAt.toISOString() },
    headers: deadBearer,
  })
})

test('a suspended workspace is told so and nothing more', async () => {
  const workspace = await newWorkspace(house)
  await suspendWorkspace(house.db, house.clock, workspace.id, 'unpaid bills')
  const answer = await workspace.call('/v1/me')
  expectRefusal(answer, { code: 'workspace_suspended' })
  expect(JSON.stringify(answer.body)).not.toContain('unpaid')
})

test('an address that is not on the list is refused and named', async () => {
  const workspace = await newWorkspace(house)
  const { secret } = await workspace.newKey({ allowedRanges: ['203.0.113.0/24', '2001:db8::/32'] })
  expectRefusal(await house.call('/v1/me', { key: secret }), {
    code: 'ip_not_allowed',
    details: { ip: '127.0.0.1' },
  })
  const { secret: allowed } = await workspace.newKey({ allowedRanges: ['203.0.113.0/24', '127.0.0.0/8'] })
  expect((await house.call('/v1/me', { key: allowed })).status).toBe(200)
})

test('a missing scope is named, with those the key has', async () => {
  const workspace = await newWorkspace(house)
  for (const scopes of [['messages:send', 'senders:read'], []]) {
    const { secret } = await workspace.newKey({ scopes })
    expectRefusal(await house.call('/v1/webhook', { key: secret }), {
      code: 'insufficient_scope',
      message: `This key lacks the scope 'webhooks:read'.`,
      details: { required_scope: 'webhooks:read', granted_scopes: scopes.toSorted().toReversed() },
      headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="webhooks:read"' },
    })
  }
})

test('beyond the budget the answer says when to come back', async () => {
  const workspace = await newWorkspace(house)
  const { secret } = await workspace.newKey({ budget: 1 })
  expect((await house.call('/v1/me', { key: secret })).status).toBe(200)
  house.clock.forward({ seconds: 17 })
  const answer = await house.call('/v1/me', { key: secret })
  expectRefusal(answer, { code: 'rate_limited', details: { limit: 1, retry_after: 43 } })
  expect(answer.headers.get('retry-after')).toBe('43')
})

test('malformed, wrong checksum and unknown answer with the same bytes but for the request id', async () => {
  const bodies = await Promise.all(
    ['rubbish', `${known.slice(0, -1)}${lastOther}`, newSecret()].map(async (key) => {
      const { status, body, headers } = await house.call('/v1/me', { key })
      const seen = [...headers].filter(([name]) => !/^(x-request-id|date|ratelimit-remaining)$/.test(name))
      return JSON.stringify([status, body, seen]).replaceAll(/req_[0-9a-f-]+/g, 'req_')
    }),
  )
  expect(new Set(bodies).size).toBe(1)
})

test('a console cookie opens nothing under /v1', async () => {
  const { secret } = await newWorkspace(house)
  const answer = await house.call('/v1/me', { headers: { cookie: `session=${secret}; key=${secret}` } })
  expectRefusal(answer, { code: 'invalid_key', message: 'The Authorization header is missing.', headers: bearer })
})
