import { expect, test } from 'vitest'
import { echoRoutes } from '../../testing/echo.ts'
import { expectRefusal } from '../../testing/expect-error.ts'
import { loggedRequest } from '../../testing/log.ts'
import { type RawConnection, rawConnection } from '../../testing/raw.ts'
import { useTestServer } from '../../testing/test-server.ts'
import { newWorkspace } from '../../testing/workspace.ts'
import { defaultClientTimeouts } from './limits/limits.ts'

const server = useTestServer({
  moreRoutes: echoRoutes,
  limits: { timeouts: { ...defaultClientTimeouts, headersMs: 300, bodyMs: 300, requestMs: 900, checkMs: 50 } },
})

/** Sends one byte every 40 ms until it is stopped. */
function drip(connection: RawConnection, byte: string): () => void {
  const timer = setInterval(() => connection.send(byte), 40)
  return () => clearInterval(timer)
}

test('all default timeouts are below 30 seconds', () => {
  const { headersMs, bodyMs, requestMs, checkMs } = defaultClientTimeouts
  for (const each of [headersMs, bodyMs, requestMs]) expect(each + checkMs).toBeLessThan(30_000)
})

test('a client that sends its headers too slowly gets 408', async () => {
  const connection = await rawConnection(server.url)
  connection.send('GET /v1/me HTTP/1.1\r\nHost: x\r\nX-Slow: ')
  const stop = drip(connection, 'a')
  const responses = await connection.untilClosed()
  stop()
  expect(responses).toHaveLength(1)
  const [response] = responses as [(typeof responses)[number]]
  expectRefusal(response, { code: 'request_timeout' })
  expect(await loggedRequest(server, response)).toMatchObject({ status: 408, code: 'request_timeout', method: '?' })
})

test('a client that sends its body too slowly gets 408', async () => {
  const { secret, id } = await newWorkspace(server)
  const connection = await rawConnection(server.url)
  connection.send(
    `POST /v1/echo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"word":"`,
  )
  const stop = drip(connection, 'a')
  const responses = await connection.untilClosed()
  stop()
  expect(responses).toHaveLength(1)
  const [response] = responses as [(typeof responses)[number]]
  expectRefusal(response, { code: 'request_timeout' })
  expect(await loggedRequest(server, response)).toMatchObject({ status: 408, workspace_id: id, route: '/v1/echo' })
})

test('a request whose body is not read is refused immediately, and its connection is closed', async () => {
  const connection = await rawConnection(server.url)
  connection.send(
    'POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
  )
  const [response] = (await connection.responses(1)) as [Awaited<ReturnType<RawConnection['responses']>>[number]]
  expectRefusal(response, {
    code: 'invalid_key',
    message: 'The Authorization header is missing.',
    headers: { 'www-authenticate': 'Bearer' },
  })
  const stop = drip(connection, 'a')
  expect(await connection.untilClosed()).toHaveLength(1)
  stop()
})

test('a connection without a request gets no response', async () => {
  const connection = await rawConnection(server.url)
  connection.socket.end()
  expect(await connection.untilClosed()).toEqual([])
})
