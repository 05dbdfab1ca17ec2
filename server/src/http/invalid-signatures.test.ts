import { expect, test } from 'vitest'
import { newApp, signatureOf, type TestApp } from '../../testing/network-app.ts'
import { rawConnection } from '../../testing/raw.ts'
import { useTestServer } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'
import { countRejectedWebhooks } from '../domain/requests/rejected-webhooks.ts'
import { defaultByteLimits } from './limits/limits.ts'

const KiB = 1024
const server = useTestServer({
  trustProxy: ['127.0.0.1/32'],
  limits: {
    wrongSignatures: { max: 100 * KiB, windowMs: 8_000, maxKeys: 100 },
    bytes: { ...defaultByteLimits, unverified: { all: 500 * KiB, each: 300 * KiB } },
  },
})

const wrong = `sha256=${'0'.repeat(64)}`
const bodyOf = (bytes: number) => `{"object":"whatsapp_business_account","entry":[],"x":"${'x'.repeat(bytes)}"}`

async function post(app: TestApp, address: string, bytes: number, signature?: string) {
  const body = bodyOf(bytes)
  const response = await fetch(`${server.url}/network/whatsapp/${app.id}`, {
    method: 'POST',
    headers: {
      'x-forwarded-for': address,
      'x-hub-signature-256': signature ?? signatureOf(app.secret, body),
      'user-agent': 'x'.repeat(5000),
    },
    body,
  })
  return { status: response.status, retryAfter: response.headers.get('retry-after'), text: await response.text() }
}

async function sendWrong(app: TestApp, address: string): Promise<void> {
  for (let n = 0; n < 3; n++) expect((await post(app, address, 40 * KiB, wrong)).status).toBe(401)
}

test('after too many bytes with wrong signatures, an address gets 503 before its body is read', async () => {
  const app = await newApp(server)
  await sendWrong(app, '203.0.113.1')
  const refused = await post(app, '203.0.113.1', 1, wrong)
  expect(refused).toMatchObject({ status: 503, retryAfter: '1' })
  expect(refused.text).toContain('invalid signature')
  const connection = await rawConnection(server.url)
  connection.send(
    `POST /network/whatsapp/${app.id} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.1\r\nX-Hub-Signature-256: ${wrong}\r\nContent-Length: 100000\r\n\r\n`,
  )
  expect((await connection.untilClosed()).map(({ status }) => status)).toEqual([503])
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  expect(metrics).toContain('parley_http_overload_total{limit="invalid_signatures"} 2')
})

test('wrong signatures are in the request log of their app, without their content', async () => {
  const [app, other] = [await newApp(server), await newApp(server)]
  const since = server.clock.now()
  await sendWrong(app, '203.0.113.9')
  const rejected = (id: string) => countRejectedWebhooks(server.db, id, since)
  await until('they are logged', async () => (await rejected(app.id)).count === 3)
  expect(await rejected(app.id)).toEqual({ count: 3, lastAt: since })
  expect(await rejected(other.id)).toEqual({ count: 0, lastAt: null })
  const logged = await server.db.rows('select distinct code, user_agent from request_log where route = $1', [
    `/network/whatsapp/${app.id}`,
  ])
  expect(logged).toEqual([{ code: 'invalid_signature', user_agent: 'x'.repeat(200) }])
})

test('an address may send again after a while', async () => {
  const app = await newApp(server)
  await sendWrong(app, '203.0.113.1')
  expect((await post(app, '203.0.113.1', 1)).status).toBe(503)
  server.clock.forward({ seconds: 8 })
  expect((await post(app, '203.0.113.1', 1)).status).toBe(200)
})

test('the wrong signatures of one address do not hold back another', async () => {
  const app = await newApp(server)
  await sendWrong(app, '203.0.113.1')
  expect((await post(app, '203.0.113.2', 50 * KiB)).status).toBe(200)
})

test('the addresses of a /64 of IPv6 share the limit', async () => {
  const app = await newApp(server)
  await sendWrong(app, '2001:db8:1:2::1')
  expect((await post(app, '2001:db8:1:2::2', 1)).status).toBe(503)
  expect((await post(app, '2001:db8:1:3::2', 1)).status).toBe(200)
})

test('an address that also sends correct signatures may still send small webhooks', async () => {
  const app = await newApp(server)
  expect((await post(app, '203.0.113.3', 1)).status).toBe(200)
  await sendWrong(app, '203.0.113.3')
  expect((await post(app, '203.0.113.3', 2 * KiB)).status).toBe(200)
  expect((await post(app, '203.0.113.3', 50 * KiB)).status).toBe(503)
})

test('an app with a wrong secret does not hold back the webhooks of other apps', async () => {
  const [app, other] = [await newApp(server), await newApp(server)]
  await sendWrong(app, '203.0.113.4')
  expect((await post(app, '203.0.113.4', 50 * KiB)).status).toBe(503)
  expect((await post(other, '203.0.113.4', 50 * KiB)).status).toBe(200)
})

test('addresses without a correct signature cannot use all memory for bodies', async () => {
  const app = await newApp(server)
  expect((await post(app, '203.0.113.10', 1)).status).toBe(200)
  const connections = await Promise.all(
    ['203.0.113.11', '203.0.113.12'].map(async (address) => {
      const connection = await rawConnection(server.url)
      connection.send(
        `POST /network/whatsapp/${app.id} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nX-Hub-Signature-256: ${wrong}\r\nContent-Length: 250000\r\n\r\n${' '.repeat(240_000)}`,
      )
      return connection
    }),
  )
  await until('both are in memory', async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    return Number(/^parley_http_body_bytes (\d+)$/m.exec(metrics)?.[1]) >= 480_000
  })
  expect((await post(app, '203.0.113.13', 50 * KiB)).status).toBe(503)
  expect((await post(app, '203.0.113.10', 300 * KiB)).status).toBe(200)
  for (const { socket } of connections) socket.destroy()
})
