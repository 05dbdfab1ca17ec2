import { afterEach, expect, test, vi } from 'vitest'
import { echoRoutes } from '../../testing/echo.ts'
import { type ExpectedError, expectRefusal } from '../../testing/expect-error.ts'
import { loggedOf, loggedRequest } from '../../testing/log.ts'
import { type RawResponse, rawConnection, rawResponse } from '../../testing/raw.ts'
import { useTestServer } from '../../testing/test-server.ts'
import { newWorkspace } from '../../testing/workspace.ts'
import { loggedPerClient } from '../domain/requests/unauthenticated.ts'

const server = useTestServer({ moreRoutes: echoRoutes })

afterEach(async () => {
  expect((await fetch(`${server.url}/healthz`)).status, 'the process is alive').toBe(200)
  expect(server.logged.filter((line) => line.includes('"level":50'))).toEqual([])
})

const head = 'Host: x\r\n'
const refused: RawResponse[] = []

test.each<[way: string, bytes: string, why: string]>([
  ['a line that is not a request', 'hello there\r\n\r\n', 'HPE_INVALID_METHOD'],
  ['TLS on a plain port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'HPE_INVALID_METHOD'],
  ['an unknown method', `FOO /v1/me HTTP/1.1\r\n${head}\r\n`, 'HPE_INVALID_METHOD'],
  ['an unknown protocol', `GET /v1/me HTTQ/1.1\r\n${head}\r\n`, 'HPE_INVALID_CONSTANT'],
  ['an unknown version', `GET /v1/me HTTP/9.9\r\n${head}\r\n`, 'HPE_INVALID_VERSION'],
  ['unsolicited HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'HPE_PAUSED_H2_UPGRADE'],
  ['a NUL in the URL', `GET /v1/\0me HTTP/1.1\r\n${head}\r\n`, 'HPE_INVALID_URL'],
  ['a NUL in a header', `GET /v1/me HTTP/1.1\r\n${head}User-Agent: a\0b\r\n\r\n`, 'HPE_INVALID_HEADER_TOKEN'],
  ['a folded header', `GET /v1/me HTTP/1.1\r\n${head}X-A: a\r\n b\r\n\r\n`, 'HPE_INVALID_HEADER_TOKEN'],
  ['a space before the colon', `GET /v1/me HTTP/1.1\r\n${head}X-A : a\r\n\r\n`, 'HPE_INVALID_HEADER_TOKEN'],
  [
    'both a length and chunks',
    `POST /v1/echo HTTP/1.1\r\n${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'HPE_INVALID_TRANSFER_ENCODING',
  ],
  [
    'both chunks and a length',
    `POST /v1/echo HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
    'HPE_INVALID_CONTENT_LENGTH',
  ],
  [
    'two lengths',
    `POST /v1/echo HTTP/1.1\r\n${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
    'HPE_UNEXPECTED_CONTENT_LENGTH',
  ],
  [
    'chunks that are not the last coding',
    `POST /v1/echo HTTP/1.1\r\n${head}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
    'HPE_INVALID_TRANSFER_ENCODING',
  ],
  ['a negative length', `POST /v1/echo HTTP/1.1\r\n${head}Content-Length: -1\r\n\r\n`, 'HPE_INVALID_CONTENT_LENGTH'],
  ['a tunnel', `CONNECT example.com:443 HTTP/1.1\r\n${head}\r\n`, 'CONNECT'],
])('an invalid HTTP request gets an error in the usual shape: %s', async (_way, bytes, why) => {
  // Of requests without a key, only the first of each client, error and minute are in the log.
  if (refused.length % loggedPerClient === 0) server.clock.forward({ minutes: 2 })
  const response = await rawResponse(server.url, bytes)
  const message = `Invalid HTTP request (${why}).`
  expectRefusal(response, {
    code: 'validation_failed',
    message,
    param: 'request',
    errors: [{ param: 'request', code: 'invalid', message }],
  })
  expect(response.headers.get('connection')).toBe('close')
  refused.push(response)
})

test('each invalid request is in the log', async () => {
  expect(refused.length).toBeGreaterThan(10)
  for (const response of refused) {
    expect(await loggedRequest(server, response)).toMatchObject({
      method: '?',
      route: '?',
      status: 400,
      address: '127.0.0.1',
    })
  }
})

test('headers larger than 16 KiB are refused, as one large header or many small ones', async () => {
  const one = `X-Large: ${'a'.repeat(17_000)}\r\n`
  const many = Array.from({ length: 1500 }, (_, index) => `X-${index}: abcdefgh\r\n`).join('')
  for (const headers of [one, many]) {
    const response = await rawResponse(server.url, `GET /v1/me HTTP/1.1\r\n${head}${headers}\r\n`)
    expectRefusal(response, { code: 'payload_too_large', message: 'The headers are larger than 16 KiB.' })
    expect(await loggedRequest(server, response)).toMatchObject({
      method: '?',
      route: '?',
      status: 413,
      code: 'payload_too_large',
      address: '127.0.0.1',
      workspace_id: null,
    })
  }
})

test('garbage in many chunks gets one response', async () => {
  const connection = await rawConnection(server.url)
  for (let piece = 0; piece < 20; piece++) connection.send(`garbage ${piece}\r\n\r\n`)
  const responses = await connection.untilClosed()
  expect(responses.map(({ status }) => status)).toEqual([400])
})

test('a request without a Host header is refused, except in HTTP/1.0', async () => {
  const { id, secret } = await newWorkspace(server)
  const get = (version: string, path = '/v1/me') =>
    rawResponse(
      server.url,
      `GET ${path} HTTP/${version}\r\nAuthorization: Bearer ${secret}\r\nConnection: close\r\n\r\n`,
    )
  const noHost: ExpectedError = {
    code: 'validation_failed',
    message: 'The Host header is missing.',
    param: 'host',
    errors: [{ param: 'host', code: 'missing', message: 'The Host header is missing.' }],
  }
  for (const [path, route] of [
    ['/v1/me', '/v1/me'],
    ['/v1/nothing', '(no route)'],
  ] as const) {
    const response = await get('1.1', path)
    expectRefusal(response, noHost)
    expect(await loggedRequest(server, response)).toMatchObject({ route, status: 400, workspace_id: id })
  }
  expect((await get('1.1', '/docs/errors')).body).toMatchObject({ error: noHost })
  expect((await get('1.0')).status).toBe(200)
})

test('a request without a Host header and without a valid key gets the error of the key, and is logged', async () => {
  const response = await rawResponse(server.url, 'GET /v1/me HTTP/1.1\r\nConnection: close\r\n\r\n')
  expectRefusal(response, { code: 'invalid_key', headers: { 'www-authenticate': 'Bearer' } })
  expect(await loggedRequest(server, response)).toMatchObject({ route: '/v1/me', status: 401, workspace_id: null })
})

test('an absolute URL, an unknown Expect header and an Upgrade header are handled as ordinary requests', async () => {
  const { secret } = await newWorkspace(server)
  const key = `Authorization: Bearer ${secret}\r\nConnection: close\r\n`
  for (const [target, header] of [
    ['http://x/v1/me', ''],
    ['/v1/me', 'Expect: a-miracle\r\n'],
    ['/v1/me', 'Upgrade: websocket\r\n'],
  ]) {
    const response = await rawResponse(server.url, `GET ${target} HTTP/1.1\r\n${head}${header}${key}\r\n`)
    expect([target, header, response.status]).toEqual([target, header, 200])
  }
})

test('pipelined requests get their responses in order, and garbage after them the last one', async () => {
  const { secret } = await newWorkspace(server)
  const get = (path: string) => `GET ${path} HTTP/1.1\r\n${head}Authorization: Bearer ${secret}\r\n\r\n`
  const connection = await rawConnection(server.url)
  connection.send(`${get('/v1/me')}${get('/v1/nothing')}${get('/v1/webhook')}rubbish\r\n\r\n`)
  const responses = await connection.untilClosed()
  expect(responses.map(({ status }) => status)).toEqual([200, 404, 200, 400])
})

test('a body with an invalid chunk is refused', async () => {
  const { secret } = await newWorkspace(server)
  const response = await rawResponse(
    server.url,
    `POST /v1/echo HTTP/1.1\r\n${head}Authorization: Bearer ${secret}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"wor\r\nZZZ\r\n`,
  )
  const message = 'Invalid HTTP request (HPE_INVALID_CHUNK_SIZE).'
  expectRefusal(response, {
    code: 'validation_failed',
    message,
    param: 'request',
    errors: [{ param: 'request', code: 'invalid', message }],
  })
  expect(await loggedRequest(server, response)).toMatchObject({ route: '/v1/echo', status: 400 })
})

test('a smuggled second request is not executed', async () => {
  const { secret } = await newWorkspace(server)
  const inner = `GET /v1/me HTTP/1.1\r\n${head}Authorization: Bearer ${secret}\r\n\r\n`
  const connection = await rawConnection(server.url)
  connection.send(
    `POST /v1/echo HTTP/1.1\r\n${head}Content-Length: ${inner.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
  )
  expect((await connection.untilClosed()).map(({ status }) => status)).toEqual([400])
})

test.each([
  ['/v1/echo', 400, 'invalid_json'],
  ['/console/api/sign-in', 400, 'validation_failed'],
  ['/network/whatsapp/unknown', 401, 'invalid_key'],
  ['/nowhere', 404, 'not_found'],
  ['/healthz', 404, 'not_found'],
])('a request with a content type but no body gets a response immediately: POST %s', async (path, status, code) => {
  const { secret } = await newWorkspace(server)
  const response = await rawResponse(
    server.url,
    `POST ${path} HTTP/1.1\r\n${head}Authorization: Bearer ${secret}\r\nOrigin: http://x\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n`,
  )
  expect(response).toMatchObject({ status, body: { error: { code } } })
})

test('a client that disconnects during its body is logged as 499 and not as an internal error', async () => {
  const workspace = await newWorkspace(server)
  const connection = await rawConnection(server.url)
  connection.send(
    `POST /v1/echo HTTP/1.1\r\n${head}User-Agent: aborted\r\nAuthorization: Bearer ${workspace.secret}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"word":`,
  )
  // The request has passed the access check once it counts towards the rate limit.
  await vi.waitFor(
    async () => expect((await workspace.call('/v1/me')).headers.get('ratelimit-remaining')).not.toBe('99'),
    60_000,
  )
  connection.socket.resetAndDestroy()
  const [row] = await loggedOf(server, 'aborted', 1)
  expect(row).toMatchObject({ status: 499, workspace_id: workspace.id, route: '/v1/echo' })
})

test('requests with unusual characters in URL, query and user agent are logged', async () => {
  server.clock.forward({ minutes: 1 })
  const { secret } = await newWorkspace(server)
  const sent = (
    [
      ['/v1/%00%01', 'plain'],
      ['/v1/me?a=%00&b=%ff', 'plain'],
      ['/v1/\xff\xfe\xed\xa0\x80', '\xff\xfe\xed\xa0\x80 ☺'],
      [`/v1/${'\xe4'.repeat(3000)}`, '\xf0\x9f'.repeat(2000)],
      ["/v1/';drop table request_log;--", "'); drop table request_log; --"],
      ['/v1/me', '\t\x7f\x80\x9f'],
    ] as const
  ).map(async ([target, agent]) => {
    const response = await rawResponse(
      server.url,
      `GET ${target} HTTP/1.1\r\n${head}User-Agent: ${agent}\r\nAuthorization: Bearer ${secret}\r\nConnection: close\r\n\r\n`,
    )
    const row = await loggedRequest(server, response)
    expect(row.status, target).toBe(response.status)
    expect(row.route.length).toBeLessThanOrEqual(200)
    expect(row.user_agent?.length ?? 0).toBeLessThanOrEqual(200)
  })
  await Promise.all(sent)
})
