import { type ErrorCode, errorCodes } from '@parley/contract/errors'
import { expect, test } from 'vitest'
import type { ApiResponse, CallOptions } from '../../testing/call.ts'
import { echoRoutes } from '../../testing/echo.ts'
import { contractErrors, expectCommonHeaders } from '../../testing/expect-error.ts'
import { newFile } from '../../testing/files.ts'
import { loggedRequest } from '../../testing/log.ts'
import { newApp, newSender } from '../../testing/network-app.ts'
import { type RawResponse, rawResponse } from '../../testing/raw.ts'
import { useTestServer } from '../../testing/test-server.ts'
import { newWorkspace } from '../../testing/workspace.ts'
import { giveCredits } from '../domain/credits/credits.ts'
import { newCursors, oldestCursor } from '../domain/deliveries/pulling/cursor.ts'
import { changeKey, type KeyInput, revokeKey } from '../domain/keys/keys.ts'
import { suspendWorkspace } from '../domain/workspaces/workspaces.ts'
import { Refusal } from '../lib/refuse.ts'
import { defaultClientTimeouts } from './limits/limits.ts'
import { route } from './route.ts'

const failing = (path: string, code: ErrorCode) =>
  route({
    ...(echoRoutes.find((each) => each.path === '/v1/broken') as (typeof echoRoutes)[number]),
    path,
    handle: () => {
      throw new Refusal(code)
    },
  })
const optedOut = failing('/v1/opted_out', 'recipient_opted_out')
const unavailable = failing('/v1/unavailable', 'service_unavailable')
const server = useTestServer({
  moreRoutes: [...echoRoutes, optedOut, unavailable],
  limits: { timeouts: { ...defaultClientTimeouts, headersMs: 5_000, bodyMs: 100, requestMs: 5_000, checkMs: 1_000 } },
})

async function withKey(input: Partial<KeyInput>, path: string, options: CallOptions = {}): Promise<ApiResponse> {
  const { newKey } = await newWorkspace(server)
  const { secret } = await newKey(input)
  return server.call(path, { key: secret, ...options })
}

const post = (body: unknown, headers = {}) => withKey({}, '/v1/echo', { method: 'POST', body, headers })

/** Sends a text from a workspace that can pay for one message. */
async function newSending(credits = 1) {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  await newSender(server, workspace.id, app.id, String(Math.trunc(Math.random() * 1e15)))
  if (credits > 0) await giveCredits(server.db, server.clock, workspace.id, credits, 'test')
  const send = (body: string, idempotencyKey: string) =>
    workspace.call('/v1/messages', {
      method: 'POST',
      headers: { 'idempotency-key': idempotencyKey },
      body: { to: '16505550123', type: 'text', text: { body } },
    })
  return { workspace, send }
}

/** One request for each code. Other requests with the same code are in the tests of each feature. */
const requests: Partial<Record<ErrorCode, () => Promise<ApiResponse | RawResponse>>> = {
  invalid_key: () => server.call('/v1/me'),
  async key_revoked() {
    const workspace = await newWorkspace(server)
    await revokeKey(server.db, server.clock, workspace.key.id)
    return workspace.call('/v1/me')
  },
  async key_expired() {
    const workspace = await newWorkspace(server)
    const { secret } = await workspace.newKey({ expiresAt: new Date(server.clock.now().getTime() + 1) })
    server.clock.forward({ ms: 1 })
    return server.call('/v1/me', { key: secret })
  },
  async workspace_suspended() {
    const workspace = await newWorkspace(server)
    await suspendWorkspace(server.db, server.clock, workspace.id, 'test')
    return workspace.call('/v1/me')
  },
  ip_not_allowed: () => withKey({ allowedRanges: ['192.0.2.1'] }, '/v1/me'),
  origin_not_allowed: () => withKey({}, '/mcp', { method: 'POST', body: {}, headers: { origin: 'https://evil.test' } }),
  insufficient_scope: () => withKey({ scopes: [] }, '/v1/webhook'),
  async rate_limited() {
    const workspace = await newWorkspace(server)
    await changeKey(server.db, server.clock, workspace.key.id, { rateLimitPerMin: 1 })
    await workspace.call('/v1/me')
    return workspace.call('/v1/me')
  },
  validation_failed: () => withKey({}, '/v1/me?x=1'),
  invalid_json: () => post('{'),
  not_found: () => withKey({}, '/v1/nothing'),
  method_not_allowed: () => withKey({}, '/v1/me', { method: 'POST' }),
  async request_timeout() {
    const { secret } = await newWorkspace(server)
    const head = `Host: x\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\nContent-Length: 9`
    return rawResponse(server.url, `POST /v1/echo HTTP/1.1\r\n${head}\r\n\r\n{`)
  },
  // domain/messages/receiving/notices.test.ts sends to a person who opted out.
  recipient_opted_out: () => withKey({}, '/v1/opted_out'),
  insufficient_credits: async () => (await newSending(0)).send('hi', 'a'),
  async idempotency_in_progress() {
    const { workspace, send } = await newSending()
    return server.db.transaction(async (tx) => {
      await tx.change(
        `insert into idempotency_keys (workspace_id, key_id, idempotency_key, fingerprint, answer, created_at)
         values ($1, $2, 'a', '', '', now())`,
        [workspace.id, workspace.key.id],
      )
      return send('hi', 'a')
    })
  },
  async idempotency_key_reused() {
    const { send } = await newSending()
    await send('hi', 'a')
    return send('ho', 'a')
  },
  async file_expired() {
    const workspace = await newWorkspace(server)
    return workspace.call(await newFile(server, workspace, { gone: 'retention' }))
  },
  async cursor_expired() {
    const workspace = await newWorkspace(server)
    const cursor = { ...oldestCursor, unreadFrom: new Date('2020-01-01') }
    return workspace.call(`/v1/events?after=${newCursors(server.secretKeys).write(workspace.id, cursor)}`)
  },
  async range_not_satisfiable() {
    const workspace = await newWorkspace(server)
    const path = await newFile(server, workspace, { bytes: Buffer.from('ten bytes.') })
    return workspace.call(path, { headers: { range: 'bytes=10-' } })
  },
  payload_too_large: () => post('x'.repeat(257 * 1024)),
  unsupported_media_type: () => post('a', { 'content-type': 'text/plain' }),
  internal_error: () => withKey({}, '/v1/broken'),
  service_unavailable: () => withKey({}, '/v1/unavailable'),
}

test('every error code is tested', () => {
  expect(Object.keys(requests).sort()).toEqual([...errorCodes].sort())
})

test.concurrent.each(Object.entries(requests))(
  '%s has the status and type of the contract, a section on the errors page, and a log entry',
  async (code, send) => {
    const response = await send()
    const [status, type] = contractErrors[code as ErrorCode]
    expect([response.status, response.body]).toMatchObject([status, { error: { type, code } }])
    expectCommonHeaders(response)
    const { doc_url: page, request_id: requestId } = (
      response.body as { error: { doc_url: string; request_id: string } }
    ).error
    expect(requestId).toBe(response.headers.get('x-request-id'))
    const [path, fragment] = page.replace('http://parley.test', '').split('#')
    expect((await server.call(path as string)).body).toContain(`id="${fragment}"`)
    expect(await loggedRequest(server, response)).toMatchObject({ status, code })
  },
)
