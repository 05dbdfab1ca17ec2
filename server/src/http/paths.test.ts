import { expect, test } from 'vitest'
import { echoRoutes } from '../../testing/echo.ts'
import { expectCommonHeaders, expectRefusal } from '../../testing/expect-error.ts'
import { rawResponse } from '../../testing/raw.ts'
import { useTestServer } from '../../testing/test-server.ts'
import { newWorkspace } from '../../testing/workspace.ts'

const server = useTestServer({ moreRoutes: echoRoutes })

test.each([
  '/v1',
  '/v1/',
  '/v1/nothing',
  '/v1/me/',
  '/v1//me',
  '/v1/ME',
  '/v1/me/more',
  '/v1/unreadable',
  '/v1/../docs/errors/..;/',
  '/v1/%00',
  '/v1/me%00',
  `/v1/${'a'.repeat(4000)}`,
  '/v1/echo/UPPER',
  '/v1/echo/toolongtobeone',
])('an unknown path gets 404: %s', async (path) => {
  const { secret } = await newWorkspace(server)
  // Sent as raw bytes, because a client would normalize some of these.
  const response = await rawResponse(
    server.url,
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nConnection: close\r\n\r\n`,
  )
  expectRefusal(response, { code: 'not_found' })
})

test.each([
  ['/v1/mesages', 'Did you mean /v1/messages?'],
  ['/v1/webhooks?limit=5', 'Did you mean /v1/webhook?'],
  ['/v1/template/tpl_01a1de11-5b1c-7c55-9a1f-3f0b5f7a9d10', 'Did you mean /v1/templates/{id}?'],
  ['/v1/me/', 'Did you mean /v1/me?'],
  ['/v1/messages/', 'Did you mean /v1/messages?'],
  ['/v1/nothing', 'All paths are listed at /docs/api.'],
])('an unknown path gets the path that it resembles: %s', async (path, hint) => {
  const workspace = await newWorkspace(server)
  expectRefusal(await workspace.call(path), { code: 'not_found', message: `This path does not exist. ${hint}` })
})

test.each([
  ['/v1/me', 'POST', 'GET, HEAD, OPTIONS'],
  ['/v1/me', 'DELETE', 'GET, HEAD, OPTIONS'],
  ['/v1/webhook', 'PUT', 'GET, HEAD, OPTIONS'],
  ['/v1/openapi.json', 'PATCH', 'GET, HEAD, OPTIONS'],
  ['/v1/echo', 'GET', 'POST, OPTIONS'],
  ['/v1/echo/abc?x=1', 'POST', 'GET, HEAD, OPTIONS'],
  ['/v1/me', 'PROPFIND', 'GET, HEAD, OPTIONS'],
])('an unsupported method gets 405 with the Allow header: %s %s', async (path, method, allow) => {
  const workspace = await newWorkspace(server)
  const response = await workspace.call(path, { method })
  expectRefusal(response, { code: 'method_not_allowed', headers: { allow } })
})

test.each(['/v1/%', '/v1/me%zz', '/v1/echo/%ff', '/v1/echo/%c3%28?x=%zz'])(
  'malformed percent-encoding gets 400: %s',
  async (path) => {
    const workspace = await newWorkspace(server)
    const message = 'Invalid URL: the percent-encoding is malformed.'
    expectRefusal(await workspace.call(path), {
      code: 'validation_failed',
      message,
      param: 'url',
      errors: [{ param: 'url', code: 'invalid', message }],
    })
  },
)

test.each([
  ['/%76%31/me', 200],
  ['http://x/v1/me', 200],
  ['http://x/v1/%zz', 400],
  ['/v1?a=1', 404],
  ['/mcp/', 404],
  ['/mcp?a=1', 405],
  ['/%6dcp', 405],
])('a path of the API is found however it is written: %s', async (target, status) => {
  const { secret } = await newWorkspace(server)
  const response = await rawResponse(
    server.url,
    `GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nConnection: close\r\n\r\n`,
  )
  expect(response.status).toBe(status)
  expectCommonHeaders(response)
})

test('outside /v1 an invalid or unknown URL gets 404, in the same shape and with a request ID', async () => {
  for (const path of ['/%zz', '/docs/%ff', '/nothing']) {
    const response = await server.call(path)
    expect([response.status, response.body]).toMatchObject([404, { error: { code: 'not_found' } }])
    expect(response.headers.get('x-request-id')).toMatch(/^req_/)
  }
})

test('unknown and invalid query parameters are reported', async () => {
  const workspace = await newWorkspace(server)
  const first = { param: 'workspace_id', code: 'unknown', message: '"workspace_id" is not a known parameter.' }
  const second = { param: 'times', code: 'out_of_range', message: '"times" must be from 1 to 5.' }
  expectRefusal(await workspace.call('/v1/echo/abc?times=9&workspace_id=1'), {
    code: 'validation_failed',
    message: first.message,
    param: first.param,
    errors: [first, second],
  })
  for (const query of ['__proto__=1', 'a[b]=c', 'limit=1&limit=2', '%zz=1', '=', '%00']) {
    const response = await workspace.call(`/v1/me?${query}`)
    expect([response.status, response.body], query).toMatchObject([400, { error: { code: 'validation_failed' } }])
  }
  expect((await workspace.call('/v1/me?')).status).toBe(200)
})

test('HEAD returns the same headers as GET, without a body', async () => {
  const workspace = await newWorkspace(server)
  const head = await workspace.call('/v1/me', { method: 'HEAD' })
  expect([head.status, head.body]).toEqual([200, ''])
  expectCommonHeaders(head)
  expect(head.headers.get('content-length')).toBe(String(JSON.stringify((await workspace.call('/v1/me')).body).length))
  expect((await server.call('/v1/me', { method: 'HEAD' })).status).toBe(401)
  const { secret } = await workspace.newKey({ scopes: [] })
  expect((await server.call('/v1/webhook', { method: 'HEAD', key: secret })).status).toBe(403)
})

test('OPTIONS returns the allowed methods, and requires a key if the endpoint does', async () => {
  const workspace = await newWorkspace(server)
  const me = await workspace.call('/v1/me', { method: 'OPTIONS' })
  expect([me.status, me.headers.get('allow'), me.body]).toEqual([204, 'GET, HEAD, OPTIONS', ''])
  expectCommonHeaders(me)
  expect((await server.call('/v1/me', { method: 'OPTIONS' })).status).toBe(401)
  expect((await server.call('/v1/openapi.json', { method: 'OPTIONS' })).status).toBe(204)
})

test.each([
  ['http://x/v1/me', 204],
  ['http://x/v1/me?a=1', 204],
  ['/v1/%6de', 204],
  ['/v1/me%2Fmore', 404],
])('OPTIONS finds a path however it is written: %s', async (target, status) => {
  const { secret } = await newWorkspace(server)
  const response = await rawResponse(
    server.url,
    `OPTIONS ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nConnection: close\r\n\r\n`,
  )
  expect([response.status, response.headers.get('allow')]).toEqual([
    status,
    status === 204 ? 'GET, HEAD, OPTIONS' : null,
  ])
  expectCommonHeaders(response)
})

test('an unsupported method of a public path requires a key', async () => {
  const response = await server.call('/v1/openapi.json', { method: 'POST' })
  expectRefusal(response, { code: 'invalid_key', headers: { 'www-authenticate': 'Bearer' } })
})

test('every response has a request ID that the service generated', async () => {
  const workspace = await newWorkspace(server)
  const response = await workspace.call('/v1/me', { headers: { 'x-request-id': 'req_mine', 'request-id': 'mine' } })
  expect(response.headers.get('x-request-id')).not.toBe('req_mine')
  for (const path of ['/healthz', '/readyz', '/metrics', '/docs/errors', '/docs/api', '/v1/openapi.json', '/nothing']) {
    expect((await server.call(path)).headers.get('x-request-id'), path).toMatch(/^req_/)
  }
})
