import { expect, test } from 'vitest'
import { type ExpectedError, expectRefusal } from '../../../testing/expect-error.ts'
import { loggedRequest } from '../../../testing/log.ts'
import { rawResponse } from '../../../testing/raw.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { suspendWorkspace } from '../workspaces/workspaces.ts'
import { revokeKey } from './keys.ts'
import { newSecret } from './secret.ts'

const server = useTestServer()

const bearer = { 'www-authenticate': 'Bearer' }
const invalidTokenBearer = { 'www-authenticate': 'Bearer error="invalid_token"' }
/** One message for all, so that nothing can be learned about keys. It names the usual mistakes. */
const invalidKey: ExpectedError = {
  code: 'invalid_key',
  message:
    'Invalid API key. Send "Authorization: Bearer <key>" with a key that begins with "prl_live_". A value that begins with "whsec_" is the signing secret of a webhook.',
  headers: bearer,
}

const known = newSecret()
const wrongLastCharacter = known.endsWith('0') ? '1' : '0'

test.each<[label: string, authorization: string]>([
  ['empty', ''],
  ['only the word Bearer', 'Bearer'],
  ['Bearer and a space', 'Bearer '],
  ['not Bearer', `Basic ${btoa(`${known}:`)}`],
  ['a key without Bearer', known],
  ['the signing secret of a webhook', `Bearer whsec_${btoa('a'.repeat(32))}`],
  ['a key under another scheme', `Token ${known}`],
  ['another prefix', `Bearer ${known.replace('prl_live_', 'prl_test_')}`],
  ['one character short', `Bearer ${known.slice(0, -1)}`],
  ['one character long', `Bearer ${known}a`],
  ['a wrong checksum', `Bearer ${known.slice(0, -1)}${wrongLastCharacter}`],
  ['a character outside base62', `Bearer ${known.slice(0, 20)}-${known.slice(21)}`],
  ['something after the key', `Bearer ${known} ${known}`],
  ['a comma after the key', `Bearer ${known},`],
  ['well-formed but unknown', `Bearer ${newSecret()}`],
])('an invalid Authorization header gets invalid_key: %s', async (_label, authorization) => {
  const response = await server.call('/v1/me', { headers: { authorization } })
  expectRefusal(response, invalidKey)
  expect(response.headers.get('ratelimit-limit')).toBe('600')
})

test('a request without an Authorization header gets invalid_key with its own message', async () => {
  expectRefusal(await server.call('/v1/me'), {
    code: 'invalid_key',
    message: 'The Authorization header is missing.',
    headers: bearer,
  })
})

test('two Authorization headers get invalid_key, even if both have the same key', async () => {
  const { secret } = await newWorkspace(server)
  const get = (...values: string[]) =>
    rawResponse(
      server.url,
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
    expectRefusal(await get(...values), invalidKey)
  }
})

test.each(['Bearer', 'bearer', 'BEARER'])('the authorization scheme is case-insensitive: %s', async (scheme) => {
  const { secret } = await newWorkspace(server)
  const { status } = await server.call('/v1/me', { headers: { authorization: `${scheme} ${secret}` } })
  expect(status).toBe(200)
})

test('a revoked key gets key_revoked with the time', async () => {
  const workspace = await newWorkspace(server)
  const { revokedAt } = await revokeKey(server.db, server.clock, workspace.key.id)
  const response = await workspace.call('/v1/me')
  expectRefusal(response, {
    code: 'key_revoked',
    details: { key_id: workspace.key.id, revoked_at: revokedAt?.toISOString() },
    headers: invalidTokenBearer,
  })
  expect(await loggedRequest(server, response)).toMatchObject({
    workspace_id: workspace.id,
    key_id: workspace.key.id,
    code: 'key_revoked',
  })
})

test('a key works until its expiry and then gets key_expired', async () => {
  const workspace = await newWorkspace(server)
  const expiresAt = new Date(server.clock.now().getTime() + 5_000)
  const { key, secret } = await workspace.newKey({ expiresAt })
  server.clock.forward({ ms: 4_999 })
  expect((await server.call('/v1/me', { key: secret })).status).toBe(200)
  server.clock.forward({ ms: 1 })
  expectRefusal(await server.call('/v1/me', { key: secret }), {
    code: 'key_expired',
    details: { key_id: key.id, expired_at: expiresAt.toISOString() },
    headers: invalidTokenBearer,
  })
})

test('a suspended workspace gets workspace_suspended without the reason', async () => {
  const workspace = await newWorkspace(server)
  await suspendWorkspace(server.db, server.clock, workspace.id, 'unpaid bills')
  const response = await workspace.call('/v1/me')
  expectRefusal(response, { code: 'workspace_suspended' })
  expect(JSON.stringify(response.body)).not.toContain('unpaid')
})

test('an IP address outside the allowlist gets ip_not_allowed with the address', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ allowedRanges: ['203.0.113.0/24', '2001:db8::/32'] })
  expectRefusal(await server.call('/v1/me', { key: secret }), {
    code: 'ip_not_allowed',
    details: { ip: '127.0.0.1' },
  })
  const { secret: allowed } = await workspace.newKey({ allowedRanges: ['203.0.113.0/24', '127.0.0.0/8'] })
  expect((await server.call('/v1/me', { key: allowed })).status).toBe(200)
})

test('a missing scope gets insufficient_scope with the required and granted scopes', async () => {
  const workspace = await newWorkspace(server)
  for (const scopes of [['messages:send', 'senders:read'], []]) {
    const { secret } = await workspace.newKey({ scopes })
    expectRefusal(await server.call('/v1/webhook', { key: secret }), {
      code: 'insufficient_scope',
      message: `This key lacks the scope 'webhooks:read'.`,
      details: { required_scope: 'webhooks:read', granted_scopes: scopes.toSorted().toReversed() },
      headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="webhooks:read"' },
    })
  }
})

test('a request over the limit gets rate_limited with retry_after', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ rateLimitPerMin: 1 })
  expect((await server.call('/v1/me', { key: secret })).status).toBe(200)
  server.clock.forward({ seconds: 17 })
  const response = await server.call('/v1/me', { key: secret })
  expectRefusal(response, { code: 'rate_limited', details: { limit: 1, retry_after: 43 } })
  expect(response.headers.get('retry-after')).toBe('43')
})

test('malformed, wrong and unknown keys get the same response except for the request ID', async () => {
  const bodies = await Promise.all(
    ['rubbish', `${known.slice(0, -1)}${wrongLastCharacter}`, newSecret()].map(async (key) => {
      const { status, body, headers } = await server.call('/v1/me', { key })
      const compared = [...headers].filter(([name]) => !/^(x-request-id|date|ratelimit-remaining)$/.test(name))
      return JSON.stringify([status, body, compared]).replaceAll(/req_[0-9a-f-]+/g, 'req_')
    }),
  )
  expect(new Set(bodies).size).toBe(1)
})

test('a console cookie does not authenticate requests under /v1', async () => {
  const { secret } = await newWorkspace(server)
  const response = await server.call('/v1/me', { headers: { cookie: `session=${secret}; key=${secret}` } })
  expectRefusal(response, { code: 'invalid_key', message: 'The Authorization header is missing.', headers: bearer })
})
