import type { Scope } from '@parley/contract/scopes'
import { expect, test } from 'vitest'
import { newLine } from '../../../testing/deliveries.ts'
import { expectCommonHeaders, expectRefusal } from '../../../testing/expect-error.ts'
import { loggedRequest } from '../../../testing/log.ts'
import { newAgent } from '../../../testing/mcp-client.ts'
import { untilReadable } from '../../../testing/open-transaction.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { changeKey, revokeKey } from '../../domain/keys/keys.ts'
import { suspendWorkspace } from '../../domain/workspaces/workspaces.ts'

const server = useTestServer()
const sending = useSending(server)

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const call = (name: string, input: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: input },
})
const post = (key: string | undefined, body: unknown, headers: Record<string, string> = {}) =>
  server.call('/mcp', { method: 'POST', key, body, headers })

/** How many requests wait, according to the metrics. */
async function heldRequests(): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  return Number(/^parley_http_requests_held (\d+)/m.exec(metrics)?.[1])
}

const toolsByScope: [Scope, string[]][] = [
  ['senders:read', ['list_senders']],
  ['templates:read', ['list_templates']],
  ['messages:send', ['send_message']],
  ['messages:read', ['get_message']],
  ['inbound:read', ['list_inbound_messages']],
  ['flow_responses:read', ['list_flow_responses']],
  ['events:read', ['read_events']],
  ['webhooks:read', []],
]

test('a key with all scopes has every tool, each with a description and a schema of its input', async () => {
  const { secret } = await newWorkspace(server)
  const agent = await newAgent(server.url, secret)
  expect(await agent.tools()).toEqual(toolsByScope.flatMap(([, names]) => names))
  expect(agent.client.getServerVersion()).toMatchObject({ name: 'parley', title: 'Parley' })
  expect(agent.client.getInstructions()).toContain('untrusted_content')
  const { tools } = await agent.client.listTools()
  for (const { name, description, inputSchema, annotations } of tools) {
    expect(description, name).toMatch(/\.$/)
    expect(inputSchema, name).toMatchObject({ type: 'object', additionalProperties: false })
    expect(annotations?.readOnlyHint, name).toBe(name !== 'send_message')
    expect(JSON.stringify(inputSchema), name).not.toMatch(/errorMessage|\$id/)
  }
  const send = tools.find(({ name }) => name === 'send_message')
  expect(send?.inputSchema.required).toEqual(['idempotency_key', 'type'])
  expect(Object.keys(send?.inputSchema.properties ?? {})).toEqual(expect.arrayContaining(['to', 'text', 'in_reply_to']))
})

test.each(toolsByScope)('a key with the scope %s only has the tools %j', async (scope, names) => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ scopes: [scope] })
  const agent = await newAgent(server.url, secret)
  expect(await agent.tools()).toEqual(names)
})

test('an agent sends a message, which arrives on the phone, and reads its status and the events', async () => {
  const shop = await sending.newShop(5)
  const agent = await newAgent(server.url, shop.workspace.secret)
  const senders = await agent.call('list_senders')
  expect(senders.value).toMatchObject({ object: 'list', total: 1, data: [{ id: shop.senderId }] })
  expect(JSON.parse(senders.text)).toEqual(senders.value)
  expect((await agent.call('list_templates', { name: 'greeting' })).value).toMatchObject({
    data: [{ name: 'greeting', status: 'APPROVED' }],
  })
  const message = { to: '16505550123', type: 'text', text: { body: 'from an agent' }, idempotency_key: 'once' }
  const sent = await agent.call('send_message', message)
  expect(sent.value).toMatchObject({ object: 'message', status: 'queued', to: '16505550123' })
  expect(sent.meta).toEqual({ request_id: expect.stringMatching(/^req_/) })
  const again = await agent.call('send_message', message)
  expect(again.value).toEqual(sent.value)
  expect(again.meta).toMatchObject({ idempotent_replayed: true })
  const reused = await agent.call('send_message', { ...message, text: { body: 'another' } })
  expect(reused).toMatchObject({ isError: true, value: { error: { code: 'idempotency_key_reused' } } })
  await sending.drain()
  expect(shop.taken('16505550123')).toMatchObject([{ content: { body: 'from an agent' } }])
  const id = sent.value.id as string
  expect((await agent.call('get_message', { id })).value).toMatchObject({ id, status: 'read', history: { length: 4 } })
  await untilReadable(server.db)
  const { value } = await agent.call('read_events', { type: ['message.sent', 'message.read'], limit: 10 })
  // The network sends each status on its own, so either may be stored first.
  const events = value.data as { type: string; data: { message_id: string } }[]
  expect(events.map(({ type, data }) => [type, data.message_id]).sort()).toEqual([
    ['message.read', id],
    ['message.sent', id],
  ])
  expect((await agent.call('read_events', { after: value.next_cursor })).value.data).toEqual([])
})

test('an agent replies to an inbound message, and finds it by its filters', async () => {
  const shop = await sending.newShop(5)
  const agent = await newAgent(server.url, shop.workspace.secret)
  await sending.network.control.phones.say('16505550177', { to: shop.account.phoneNumber, text: 'Are you open?' })
  await sending.network.control.idle()
  const { value } = await agent.call('list_inbound_messages', { from: '16505550177', limit: 1 })
  expect(value).toMatchObject({ data: [{ text: 'Are you open?', from: '16505550177' }] })
  const [{ message_id }] = value.data as [{ message_id: string }]
  const reply = { in_reply_to: message_id, type: 'text', text: { body: 'Yes.' }, idempotency_key: 'reply' }
  expect(await agent.call('send_message', reply)).toMatchObject({ isError: false, value: { to: '16505550177' } })
  expect((await agent.call('list_inbound_messages', { from: '16505550178' })).value.data).toEqual([])
})

test('an error of a tool is a result with the code, the field errors and the request ID', async () => {
  const shop = await sending.newShop(0)
  const agent = await newAgent(server.url, shop.workspace.secret)
  const { isError, value, text, meta } = await agent.call('send_message', { type: 'text', colour: 'red' })
  expect({ isError, value }).toMatchObject({
    isError: true,
    value: { error: { code: 'validation_failed', errors: [{ param: 'idempotency_key', code: 'missing' }] } },
  })
  expect(JSON.parse(text)).toEqual(value)
  expect((value.error as { request_id: string }).request_id).toBe(meta.request_id)
  expect((await agent.call('send_message', { type: 'text', colour: 'red', idempotency_key: 'a' })).value).toMatchObject(
    {
      error: { errors: expect.arrayContaining([expect.objectContaining({ param: 'colour', code: 'unknown' })]) },
    },
  )
  const poor = { to: '16505550123', type: 'text', text: { body: 'hi' }, idempotency_key: 'b' }
  expect((await agent.call('send_message', poor)).value).toMatchObject({
    error: { code: 'insufficient_credits', type: 'billing_error', details: { required: 1, available: 0 } },
  })
  expect((await agent.call('list_senders', { limit: 101 })).value).toMatchObject({
    error: { code: 'validation_failed', param: 'limit' },
  })
  for (const id of ['msg_01890000-0000-7000-8000-000000000000', 'nonsense', 7, undefined]) {
    expect((await agent.call('get_message', { id })).value).toMatchObject({ error: { code: 'not_found' } })
  }
  await expect(agent.call('drop_tables')).rejects.toThrow('Unknown tool: drop_tables')
})

test('another workspace has none of the messages, and cannot read them', async () => {
  const [ours, theirs] = [await sending.newShop(), await newWorkspace(server)]
  const { id } = await ours.sendText('16505550123')
  const agent = await newAgent(server.url, theirs.secret)
  expect((await agent.call('get_message', { id })).value).toMatchObject({ error: { code: 'not_found' } })
  expect((await agent.call('list_senders')).value).toMatchObject({ data: [], total: 0 })
})

test('a tool without its scope is 403, and a key that loses it while the tool waits too', async () => {
  const { workspace, write } = await newLine(server)
  const { secret, key } = await workspace.newKey({ scopes: ['events:read', 'senders:read'] })
  expectRefusal(await post(secret, call('send_message')), {
    code: 'insufficient_scope',
    message: "This key lacks the scope 'messages:send'.",
    details: { required_scope: 'messages:send', granted_scopes: ['senders:read', 'events:read'] },
    headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="messages:send"' },
  })
  const waiting = post(secret, call('read_events', { after: 'latest', wait: 25 }))
  await until('the request waits', async () => (await heldRequests()) > 0)
  await changeKey(server.db, server.clock, key.id, { scopes: ['senders:read'] })
  await write(1)
  expect(await waiting).toMatchObject({ status: 403, body: { error: { code: 'insufficient_scope' } } })
})

test('without a valid key, from a foreign address or in a suspended workspace, the error is that of /v1', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ allowedRanges: ['192.0.2.1'] })
  expectRefusal(await post(undefined, list), {
    code: 'invalid_key',
    message: expect.any(String) as unknown as string,
    headers: { 'www-authenticate': 'Bearer' },
  })
  expectRefusal(await post(secret, list), { code: 'ip_not_allowed', details: { ip: '127.0.0.1' } })
  const revoked = await workspace.newKey()
  await revokeKey(server.db, server.clock, revoked.key.id)
  expect(await post(revoked.secret, list)).toMatchObject({ status: 401, body: { error: { code: 'key_revoked' } } })
  await suspendWorkspace(server.db, server.clock, workspace.id, 'test')
  expect(await post(workspace.secret, list)).toMatchObject({ status: 403 })
  await expect(newAgent(server.url, 'prl_live_wrong')).rejects.toThrow('invalid_key')
})

test('each POST counts as one request, and carries the rate headers and the request ID', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ rateLimitPerMin: 3 })
  const initialize = {
    ...list,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  }
  const first = await post(secret, initialize)
  expect(first).toMatchObject({ status: 200, body: { id: 1, result: { protocolVersion: '2025-06-18' } } })
  const notified = await post(secret, { jsonrpc: '2.0', method: 'notifications/initialized' })
  expect([notified.status, notified.body]).toEqual([202, ''])
  const listed = await post(secret, list, { accept: 'application/json' })
  for (const [index, response] of [first, notified, listed].entries()) {
    expectCommonHeaders(response)
    expect(response.headers.get('ratelimit-remaining')).toBe(String(2 - index))
    expect(response.headers.get('mcp-session-id')).toBeNull()
  }
  expectRefusal(await post(secret, list), {
    code: 'rate_limited',
    details: { limit: 3, retry_after: expect.any(Number) },
  })
})

test('requests are in the request log, with the error of the tool', async () => {
  const workspace = await newWorkspace(server)
  const ok = await post(workspace.secret, call('list_senders'))
  expect(await loggedRequest(server, ok)).toMatchObject({ method: 'POST', route: '/mcp', status: 200, code: null })
  const failed = await post(workspace.secret, call('get_message', { id: 'nonsense' }))
  expect(failed).toMatchObject({ status: 200, body: { result: { isError: true } } })
  expect(await loggedRequest(server, failed)).toMatchObject({
    route: '/mcp',
    key_id: workspace.key.id,
    status: 200,
    code: 'not_found',
  })
})

test('GET and DELETE are 405, and other paths 404', async () => {
  const { secret } = await newWorkspace(server)
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const response = await server.call('/mcp', { method, key: secret, headers: { accept: 'text/event-stream' } })
    expectRefusal(response, { code: 'method_not_allowed', headers: { allow: 'POST, OPTIONS' } })
  }
  expectRefusal(await server.call('/mcp/tools', { key: secret }), { code: 'not_found' })
})

test('a page of another site gets 403, and the pages of this service do not', async () => {
  const { secret } = await newWorkspace(server)
  for (const origin of ['https://evil.test', 'null', 'http://parley.test:81', 'https://parley.test']) {
    expectRefusal(await post(secret, list, { origin }), { code: 'origin_not_allowed' })
  }
  expect((await post(secret, list, { origin: 'http://parley.test' })).status).toBe(200)
})

test('a batch is refused: a request has one message', async () => {
  const { secret } = await newWorkspace(server)
  for (const body of [[], [list, { ...list, id: 2 }]]) {
    expect(await post(secret, body)).toMatchObject({
      status: 400,
      body: { error: { code: 'validation_failed', param: 'body' } },
    })
  }
})

test('malformed and too large bodies have the errors of /v1', async () => {
  const { secret } = await newWorkspace(server)
  expectRefusal(await post(secret, '{"jsonrpc":'), { code: 'invalid_json' })
  expectRefusal(await post(secret, JSON.stringify({ ...list, pad: 'x'.repeat(257 * 1024) })), {
    code: 'payload_too_large',
  })
  expectRefusal(await post(secret, 'list', { 'content-type': 'text/plain' }), { code: 'unsupported_media_type' })
  expect(await server.call('/mcp', { method: 'POST', key: secret })).toMatchObject({
    status: 400,
    body: { error: { code: 'validation_failed', errors: [{ param: 'body', code: 'missing' }] } },
  })
})

test.each<[string, unknown, Record<string, string>?]>([
  ['a number', 7],
  ['null', null],
  ['no version', { id: 1, method: 'tools/list' }],
  ['an unknown version of the protocol', list, { 'mcp-protocol-version': '1999-01-01' }],
])('%s is an invalid message: 400 with an error of JSON-RPC', async (_name, body, headers = {}) => {
  const { secret } = await newWorkspace(server)
  expect(await post(secret, JSON.stringify(body), { 'content-type': 'application/json', ...headers })).toMatchObject({
    status: 400,
    body: { jsonrpc: '2.0', error: { code: expect.any(Number) } },
  })
})

test.each<[string, string, unknown, string]>([
  ['arguments that are no object', 'tools/call', { name: 'list_senders', arguments: 'all' }, 'params.arguments: '],
  ['a name that is no text', 'tools/call', { name: 7 }, 'params.name: '],
  ['no parameters', 'tools/call', undefined, 'params: '],
  ['no version of the protocol', 'initialize', {}, 'params.protocolVersion: '],
])('%s are invalid parameters, not an internal error', async (_name, method, params, problem) => {
  const { secret } = await newWorkspace(server)
  const { status, body } = await post(secret, { jsonrpc: '2.0', id: 'a', method, params })
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      jsonrpc: '2.0',
      id: 'a',
      error: { code: -32602, message: expect.stringContaining(`Invalid parameters: ${problem}`) },
    },
  })
})

test('a call that asks for a task is refused before the message is sent', async () => {
  const shop = await sending.newShop(1)
  const message = { to: '16505550123', type: 'text', text: { body: 'hi' }, idempotency_key: 'task' }
  const request = { ...call('send_message', message), params: { ...call('send_message', message).params, task: {} } }
  expect((await post(shop.workspace.secret, request)).body).toMatchObject({ error: { code: -32603 } })
  expect((await shop.workspace.call('/v1/messages')).body).toMatchObject({ total: 0 })
})
