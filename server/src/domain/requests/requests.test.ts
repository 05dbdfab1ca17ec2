import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { echoRoutes } from '../../../testing/echo.ts'
import { loggedOf, loggedRequest } from '../../../testing/log.ts'
import { mayIdle } from '../../../testing/may-idle.ts'
import { rawConnection } from '../../../testing/raw.ts'
import { startTestServer, useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace, type TestWorkspace } from '../../../testing/workspace.ts'
import { revokeKey } from '../keys/keys.ts'
import { newSecret } from '../keys/secret.ts'
import { listApiErrors } from './requests.ts'

const server = useTestServer({ moreRoutes: echoRoutes, trustProxy: ['127.0.0.1'] })
const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })

test('a request is logged with its key, route, IP address, status and duration', async () => {
  const workspace = await newWorkspace(server)
  const headers = { 'user-agent': 'shop/1.0', 'x-forwarded-for': '2001:db8::7' }
  const response = await workspace.call('/v1/echo/abc?times=2', { headers })
  const row = await loggedRequest(server, response)
  expect(row).toEqual({
    id: response.headers.get('x-request-id')?.slice(4),
    at: server.clock.now(),
    workspace_id: workspace.id,
    key_id: workspace.key.id,
    method: 'GET',
    route: '/v1/echo/:id',
    status: 200,
    code: null,
    duration_us: expect.any(Number),
    address: '2001:db8::7',
    user_agent: 'shop/1.0',
  })
  expect(row.duration_us).toBeGreaterThan(0)
})

test.concurrent.each<[label: string, path: string, method: string, status: number, code: string | null, route: string]>(
  [
    ['a success', '/v1/me', 'GET', 200, null, '/v1/me'],
    ['HEAD', '/v1/me', 'HEAD', 200, null, '/v1/me'],
    ['OPTIONS', '/v1/me', 'OPTIONS', 204, null, '/v1/me'],
    ['an unknown path', '/v1/message/491701234567?secret=x', 'GET', 404, 'not_found', '(no route)'],
    ['an unsupported method', '/v1/me', 'PUT', 405, 'method_not_allowed', '/v1/me'],
    ['an unsupported method with an ID', '/v1/echo/491701234567', 'PUT', 405, 'method_not_allowed', '/v1/echo/:id'],
    ['an invalid ID', '/v1/echo/NONE', 'GET', 404, 'not_found', '/v1/echo/:id'],
    ['a malformed URL', '/v1/%zz', 'GET', 400, 'validation_failed', '(no route)'],
    ['an internal error', '/v1/broken', 'GET', 500, 'internal_error', '/v1/broken'],
  ],
)('%s is logged', async (_label, path, method, status, code, route) => {
  const workspace = await newWorkspace(server)
  const response = await workspace.call(path, { method })
  expect(await loggedRequest(server, response)).toMatchObject({
    workspace_id: workspace.id,
    method,
    route,
    status,
    code,
  })
})

test('pipelined requests and a request whose client disconnects are logged with the correct status', async () => {
  const workspace = await newWorkspace(server)
  const rawRequest = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${workspace.secret}\r\nUser-Agent: pieces\r\n\r\n`
  const connection = await rawConnection(server.url)
  connection.send(rawRequest('/v1/me') + rawRequest('/v1/webhook') + rawRequest('/v1/me'))
  expect((await connection.responses(3)).map(({ status }) => status)).toEqual([200, 200, 200])
  connection.send(rawRequest('/v1/webhook'))
  connection.socket.destroy()
  const logged = () =>
    server.db.rows<{ route: string; status: number }>(
      `select route, status from request_log where workspace_id = $1 and user_agent = 'pieces' order by status, route`,
      [workspace.id],
    )
  await expect.poll(async () => (await logged()).length).toBe(4)
  expect((await logged()).slice(0, 3)).toEqual(
    ['/v1/me', '/v1/me', '/v1/webhook'].map((route) => ({ route, status: 200 })),
  )
  // 200 if the response was sent before we noticed that the client had disconnected.
  expect([200, 499]).toContain((await logged())[3]?.status)
})

test('a request whose client disconnects while it waits for the access check is logged as 499', async () => {
  const workspace = await newWorkspace(server)
  const { secret: other } = await workspace.newKey()
  const rawRequest = `GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${other}\r\nUser-Agent: gone\r\n\r\n`
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  // Blocks reading the revision, so that the first request waits and the second is queued behind it.
  const holding = server.db.transaction(async (tx) => {
    await mayIdle(tx)
    await tx.change('lock table access_revision in access exclusive mode')
    await released
  })
  await sleep(100)
  const first = workspace.call('/v1/me')
  await sleep(50)
  const connection = await rawConnection(server.url)
  connection.send(rawRequest)
  await sleep(50)
  connection.socket.resetAndDestroy()
  await sleep(50)
  release()
  await holding
  expect((await first).status).toBe(200)
  const logged = () => server.db.rows(`select status, workspace_id from request_log where user_agent = 'gone'`)
  await expect.poll(logged).toEqual([{ status: 499, workspace_id: workspace.id }])
})

test('pipelined requests whose connection breaks before the response to the first one are all logged as 499', async () => {
  const workspace = await newWorkspace(server)
  const common = `Host: x\r\nAuthorization: Bearer ${workspace.secret}\r\nUser-Agent: broken\r\n`
  const unfinished = `POST /v1/echo HTTP/1.1\r\n${common}Content-Type: application/json\r\nContent-Length: 10\r\n\r\n`
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const holding = server.db.transaction(async (tx) => {
    await mayIdle(tx)
    await tx.change('lock table access_revision in access exclusive mode')
    await released
  })
  const connection = await rawConnection(server.url)
  // The access check of all of them waits, so none has a response.
  connection.send(`GET /v1/me HTTP/1.1\r\n${common}\r\n`.repeat(3) + unfinished)
  const metric = async (name: string) => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics)?.[1])
  }
  await until('they have arrived', async () => (await metric('parley_http_requests_in_progress')) === 5)
  const connections = await metric('parley_http_connections')
  connection.socket.resetAndDestroy()
  await until('the connection is closed', async () => (await metric('parley_http_connections')) < connections)
  release()
  await holding
  const rows = await loggedOf(server, 'broken', 4)
  expect(rows.map(({ status, key_id }) => [status, key_id])).toEqual(Array(4).fill([499, workspace.key.id]))
})

test('after the service has stopped, every request is in the log, including rejected ones, or counted', async () => {
  const { server: other, close } = await startTestServer()
  const workspace = await newWorkspace(other)
  const { secret } = await workspace.newKey({ rateLimitPerMin: 20 })
  const calls = Array.from({ length: 150 }, (_, index) =>
    other.call('/v1/me', index % 3 === 0 ? {} : { key: index % 3 === 1 ? secret : newSecret() }),
  )
  const ids = (await Promise.all(calls)).map(({ headers }) => headers.get('x-request-id')?.slice(4))
  await other.api.app.close()
  await other.api.flush()
  const rows = await other.db.rows<{ id: string }>(`select id from request_log where route = '/v1/me'`)
  const loggedIds = new Set(rows.map(({ id }) => id))
  expect(loggedIds.size).toBe(rows.length)
  expect(ids.filter((id, index) => index % 3 === 1 && !loggedIds.has(id as string))).toEqual([])
  // Of those without a key, the first are logged. Both kinds may belong to the workspace, because of their address.
  const [counted] = await other.db.rows<{ count: number; logged: number }>(
    'select sum(count)::int as count, sum(logged)::int as logged from unauthenticated_minutes where code is not null',
  )
  expect(rows.length - (counted?.logged ?? 0) + (counted?.count ?? 0)).toBe(ids.length)
  await close()
})

/** 3 × insufficient_scope with two keys, 2 × not_found, 1 × key_revoked; two addresses; over two hours. */
async function makeErrors(workspace: TestWorkspace) {
  const first = await workspace.newKey({ scopes: [] })
  const second = await workspace.newKey({ scopes: [] })
  const start = server.clock.now()
  await server.call('/v1/webhook', { key: first.secret, ...from('192.0.2.1') })
  server.clock.forward({ minutes: 50 })
  await server.call('/v1/webhook', { key: first.secret, ...from('192.0.2.1') })
  await server.call('/v1/nothing', { key: first.secret, ...from('192.0.2.2') })
  const middle = server.clock.now()
  server.clock.forward({ minutes: 50 })
  await server.call('/v1/webhook', { key: second.secret, ...from('192.0.2.2') })
  await server.call('/v1/nowhere', { key: first.secret, ...from('192.0.2.2') })
  await revokeKey(server.db, server.clock, second.key.id)
  const last = await server.call('/v1/me', { key: second.secret, ...from('192.0.2.3') })
  await loggedRequest(server, last)
  return { first: first.key.id, second: second.key.id, start, middle, end: server.clock.now() }
}

test('listApiErrors groups by code, with count, times, keys and addresses', async () => {
  const workspace = await newWorkspace(server)
  const { first, second, start, middle, end } = await makeErrors(workspace)
  const groups = (await listApiErrors(server.db, workspace.id, start)).map(({ title, cause, remedy, ...group }) => {
    for (const text of [title, cause, remedy]) expect(text).not.toBe('')
    return group
  })
  const addresses = (...list: string[]) => ({ addresses: list, addressCount: list.length })
  const keys = (...list: string[]) => ({ keys: list, keyCount: list.length })
  expect(groups).toEqual([
    {
      code: 'insufficient_scope',
      count: 3,
      firstAt: start,
      lastAt: end,
      ...keys(first, second),
      ...addresses('192.0.2.1', '192.0.2.2'),
    },
    { code: 'not_found', count: 2, firstAt: middle, lastAt: end, ...keys(first), ...addresses('192.0.2.2') },
    { code: 'key_revoked', count: 1, firstAt: end, lastAt: end, ...keys(second), ...addresses('192.0.2.3') },
  ])
})

test('listApiErrors counts from the given time on, to the millisecond', async () => {
  const workspace = await newWorkspace(server)
  const { start, middle, end } = await makeErrors(workspace)
  const counts = async (since: Date) =>
    Object.fromEntries((await listApiErrors(server.db, workspace.id, since)).map(({ code, count }) => [code, count]))
  expect(await counts(start)).toEqual({ insufficient_scope: 3, not_found: 2, key_revoked: 1 })
  expect(await counts(new Date(start.getTime() + 1))).toEqual({ insufficient_scope: 2, not_found: 2, key_revoked: 1 })
  expect(await counts(middle)).toEqual({ insufficient_scope: 2, not_found: 2, key_revoked: 1 })
  expect(await counts(new Date(middle.getTime() + 1))).toEqual({ insufficient_scope: 1, not_found: 1, key_revoked: 1 })
  expect(await counts(new Date(end.getTime() + 1))).toEqual({})
})

test('a workspace sees only its own errors; errors without a matching key belong to no workspace', async () => {
  const since = server.clock.now()
  const workspace = await newWorkspace(server)
  const other = await newWorkspace(server)
  await other.call('/v1/nothing')
  await loggedRequest(server, await server.call('/v1/me', { key: newSecret(), ...from('203.0.113.77') }))
  expect(await listApiErrors(server.db, workspace.id, since)).toEqual([])
  expect(await listApiErrors(server.db.within(workspace.id), other.id, since)).toEqual([])
  expect((await listApiErrors(server.db, other.id, since)).map(({ code }) => code)).toEqual(['not_found'])
  const unknown = async () =>
    (await listApiErrors(server.db, null, since)).map(({ code, count, keyCount }) => [code, count, keyCount])
  await expect.poll(unknown).toEqual([['invalid_key', 1, 0]])
})
