import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { echoRoutes } from '../../testing/echo.ts'
import { mayIdle } from '../../testing/may-idle.ts'
import { newApp, signatureOf } from '../../testing/network-app.ts'
import { type RawConnection, rawConnection } from '../../testing/raw.ts'
import { useTestServer } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'
import { newWorkspace } from '../../testing/workspace.ts'
import { newUuid } from '../lib/ids.ts'
import { HeldBytes } from './limits/bytes.ts'
import { defaultByteLimits } from './limits/limits.ts'

const KiB = 1024
const server = useTestServer({
  moreRoutes: echoRoutes,
  trustProxy: ['127.0.0.1/32'],
  limits: {
    bytes: {
      ...defaultByteLimits,
      process: 1024 * KiB,
      stranger: { all: 512 * KiB, each: 300 * KiB },
      unverified: { all: 512 * KiB, each: 300 * KiB },
      network: { all: 1024 * KiB, each: 768 * KiB },
    },
  },
})

const wellFormed = `sha256=${'0'.repeat(64)}`

/** The bytes of request bodies in memory, from the metrics. */
async function bytesInMemory(): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  return Number(/^parley_http_body_bytes (\d+)$/m.exec(metrics)?.[1])
}

async function refusedSoFar(limit: 'process_bodies' | 'address_bodies'): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  return Number(new RegExp(`^parley_http_overload_total{limit="${limit}"} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0)
}

const opened: RawConnection[] = []

afterEach(async () => {
  for (const { socket } of opened.splice(0)) socket.destroy()
  await until('all memory is released', async () => (await bytesInMemory()) === 0)
})

interface Upload {
  address?: string
  /** How many bytes are sent. The Content-Length is one byte more, so the body does not end. */
  bytes: number
  chunked?: boolean
}

/** Sends a request whose body does not end. */
async function open(path: string, headers: Record<string, string>, upload: Upload): Promise<RawConnection> {
  const { address = '203.0.113.1', bytes, chunked = false } = upload
  const connection = await rawConnection(server.url)
  opened.push(connection)
  const all = {
    Host: 'x',
    Origin: 'http://x',
    'Content-Type': 'application/json',
    'X-Forwarded-For': address,
    ...(chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': String(bytes + 1) }),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  connection.send(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  const body = ' '.repeat(bytes)
  connection.send(chunked ? `${bytes.toString(16)}\r\n${body}\r\n` : body)
  return connection
}

const openSignIn = (upload: Upload) => open('/console/api/sign-in', {}, upload)

const holds = (bytes: number) =>
  until(`${bytes} bytes are in memory`, async () => (await bytesInMemory()) >= bytes || undefined)

async function expectRefused(connection: RawConnection, message: string): Promise<void> {
  const [response, ...more] = await connection.untilClosed()
  expect(more).toEqual([])
  expect(response).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable', message } } })
  expect(response?.headers.get('retry-after')).toBe('1')
  expect(response?.headers.get('connection')).toBe('close')
}

const tooManyInProcess = 'The service is receiving too many large requests. Try again shortly.'
const tooManyOfAddress = 'The service is receiving too many large requests from your IP address. Try again shortly.'

const signIn = async (address: string) => {
  const response = await fetch(`${server.url}/console/api/sign-in`, {
    method: 'POST',
    headers: { origin: server.url, 'content-type': 'application/json', 'x-forwarded-for': address },
    body: '{}',
  })
  await response.arrayBuffer()
  return response.status
}

test.each([
  ['an IPv4 address', '203.0.113.1', '203.0.113.1', '203.0.113.2'],
  ['an IPv6 /64', '2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:2::1'],
])('the limit for bodies from %s does not affect other addresses', async (_what, one, same, other) => {
  const refusedBefore = await refusedSoFar('address_bodies')
  const first = await openSignIn({ address: one, bytes: 200 * KiB })
  await holds(200 * KiB)
  await expectRefused(await openSignIn({ address: same, bytes: 200 * KiB }), tooManyOfAddress)
  expect(await refusedSoFar('address_bodies')).toBe(refusedBefore + 1)
  expect(await signIn(other)).toBe(400)
  expect(await signIn(same)).toBe(400)
  first.socket.destroy()
  await until('the memory is released', async () => (await bytesInMemory()) === 0)
  await openSignIn({ address: same, bytes: 200 * KiB })
  await holds(200 * KiB)
})

test('the limit for bodies of all clients leaves memory for webhooks', async () => {
  const app = await newApp(server)
  const refusedBefore = await refusedSoFar('process_bodies')
  const clients = await Promise.all(
    ['203.0.113.1', '203.0.113.2'].map((address) => openSignIn({ address, bytes: 240 * KiB })),
  )
  await holds(480 * KiB)
  await expectRefused(await openSignIn({ address: '203.0.113.3', bytes: 240 * KiB }), tooManyInProcess)
  expect(await refusedSoFar('process_bodies')).toBe(refusedBefore + 1)
  expect(await app.post({ object: 'whatsapp_business_account', entry: [] })).toBe(200)
  for (const { socket } of clients) socket.destroy()
  await until('the memory is released', async () => (await bytesInMemory()) === 0)
  expect(await signIn('203.0.113.3')).toBe(400)
})

test('clients without a key cannot keep out webhooks from an address that has not sent a correct signature yet', async () => {
  const app = await newApp(server)
  const addresses = ['203.0.113.1', '203.0.113.2']
  await Promise.all(addresses.map((address) => openSignIn({ address, bytes: 240 * KiB })))
  await holds(480 * KiB)
  const body = JSON.stringify({ object: 'whatsapp_business_account', entry: [], filler: ' '.repeat(200 * KiB) })
  const { status } = await fetch(`${server.url}/network/whatsapp/${app.id}`, {
    method: 'POST',
    headers: { 'x-forwarded-for': '203.0.113.50', 'x-hub-signature-256': signatureOf(app.secret, body) },
    body,
  })
  expect(status).toBe(200)
})

test('the bodies of webhooks are limited too, and webhooks are accepted again once they are released', async () => {
  const app = await newApp(server)
  const post = (address: string) =>
    open(
      `/network/whatsapp/${app.id}`,
      { 'X-Hub-Signature-256': wellFormed },
      {
        address,
        bytes: 240 * KiB,
      },
    )
  const first = await post('203.0.113.1')
  await holds(240 * KiB)
  await expectRefused(await post('203.0.113.1'), tooManyOfAddress)
  const second = await post('203.0.113.2')
  await holds(480 * KiB)
  await expectRefused(await post('203.0.113.3'), tooManyInProcess)
  for (const { socket } of [first, second]) socket.destroy()
  await until('the memory is released', async () => (await bytesInMemory()) === 0)
  expect(await app.post({ object: 'whatsapp_business_account', entry: [] })).toBe(200)
})

test.each([false, true])(
  'the memory is released if the client disconnects during the body; chunked: %s',
  async (chunked) => {
    const { secret } = await newWorkspace(server)
    const app = await newApp(server)
    const upload = { bytes: 100 * KiB, chunked }
    const connections = await Promise.all([
      openSignIn({ ...upload, address: '203.0.113.1' }),
      open('/v1/echo', { Authorization: `Bearer ${secret}` }, { ...upload, address: '203.0.113.2' }),
      open(`/network/whatsapp/${app.id}`, { 'X-Hub-Signature-256': wellFormed }, upload),
    ])
    await holds(300 * KiB)
    for (const { socket } of connections) socket.resetAndDestroy()
    await until('the memory is released', async () => (await bytesInMemory()) === 0)
  },
)

test('the memory of a body that no handler reads is released before earlier responses on its connection', async () => {
  await server.db.transaction(async (tx) => {
    await mayIdle(tx)
    await tx.rows('lock table access_revision in access exclusive mode')
    const connection = await rawConnection(server.url)
    opened.push(connection)
    const body = ' '.repeat(50 * KiB)
    // The first request waits for its access check.
    connection.send('GET /v1/me HTTP/1.1\r\nHost: x\r\n\r\n')
    for (const path of ['/nowhere', '/console/api/sign-in']) {
      connection.send(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    }
    await until('all have arrived', async () => {
      const metrics = await (await fetch(`${server.url}/metrics`)).text()
      return metrics.includes('parley_http_requests_in_progress 4\n')
    })
    await until('their memory is released', async () => (await bytesInMemory()) === 0)
  })
})

test('the memory of a chunked body that is refused unread is released, even if a pipelined connection breaks', async () => {
  const chunk = `${(20 * KiB).toString(16)}\r\n${' '.repeat(20 * KiB)}\r\n`
  const request = (path: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`
  for (const path of ['/v1/echo', '/nowhere', '/console/api/nowhere', '/network/whatsapp/unknown']) {
    const connection = await rawConnection(server.url)
    connection.send(request(path))
    expect((await connection.responses(1))[0]?.status).toBeGreaterThanOrEqual(401)
    await until('the memory is released', async () => (await bytesInMemory()) === 0)
    connection.socket.destroy()
    const aborted = await rawConnection(server.url)
    aborted.send(request(path).repeat(5))
    await until('a response arrives', async () => aborted.socket.bytesRead > 0 || undefined)
    aborted.socket.resetAndDestroy()
  }
})

test('the chunked body of a GET is discarded', async () => {
  const { secret } = await newWorkspace(server)
  const connection = await rawConnection(server.url)
  connection.send(
    `GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
  )
  expect((await connection.responses(1))[0]?.status).toBe(200)
  connection.socket.destroy()
})

test('the body of a webhook counts as memory until it is committed', async () => {
  const app = await newApp(server)
  const change = { field: 'message_template_status_update', value: { filler: ' '.repeat(200 * KiB) } }
  const body = { object: 'whatsapp_business_account', entry: [{ id: '1', changes: [change] }] }
  // The app is cached now, so the body is read without a database query.
  expect(await app.post(body)).toBe(200)
  let response: Promise<number> | undefined
  await server.db.transaction(async (tx) => {
    await mayIdle(tx)
    await tx.rows('lock table routing_revision in access exclusive mode')
    response = app.post(body)
    await holds(200 * KiB)
  })
  expect(await response).toBe(200)
})

test.each<[what: string, app: 'known' | 'unknown' | 'no id', signature: string | undefined]>([
  ['an unknown app', 'unknown', wellFormed],
  ['an app id that is not a UUID', 'no id', wellFormed],
  ['no signature', 'known', undefined],
  ['a signature of another hash', 'known', `sha1=${'0'.repeat(40)}`],
  ['a signature that is too short', 'known', `sha256=${'0'.repeat(63)}`],
  ['a signature that is not hex', 'known', `sha256=${'g'.repeat(64)}`],
])('a webhook with %s is refused before its body is read', async (_what, which, signature) => {
  const id = which === 'known' ? (await newApp(server)).id : which === 'unknown' ? newUuid() : 'not-a-uuid'
  const connection = await rawConnection(server.url)
  const header = signature === undefined ? '' : `X-Hub-Signature-256: ${signature}\r\n`
  connection.send(`POST /network/whatsapp/${id} HTTP/1.1\r\nHost: x\r\n${header}Content-Length: 1000000\r\n\r\n`)
  const responses = await connection.untilClosed()
  expect(responses).toMatchObject([{ status: 401, body: { error: { code: 'invalid_key' } } }])
})

test('with a well-formed signature and a known app, the body is read', async () => {
  const app = await newApp(server)
  const connection = await open(`/network/whatsapp/${app.id}`, { 'X-Hub-Signature-256': wellFormed }, { bytes: 10 })
  await holds(10)
  connection.send(' ')
  expect(await connection.responses(1)).toMatchObject([{ status: 401, body: { error: { code: 'invalid_key' } } }])
})

test('the default limits allow eight of the largest webhooks from one address at a time', () => {
  const held = new HeldBytes(defaultByteLimits)
  const leases = Array.from({ length: 9 }, () => held.lease('network', '203.0.113.1'))
  expect(leases.map((lease) => lease.resize(4 * KiB * KiB))).toEqual([...Array<null>(8).fill(null), 'address_bodies'])
  for (const lease of leases) lease.release()
  expect(held.total).toBe(0)
})

test('the default limits of all but the network leave a quarter of the memory to it', () => {
  const { process, stranger, unverified, workspace } = defaultByteLimits
  expect(stranger.all + unverified.all + workspace.all).toBeLessThanOrEqual((process * 3) / 4)
})

test('a refused body is released immediately, even if its response waits for others on the connection', async () => {
  const app = await newApp(server)
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.pause()
  // In one write, so that all requests are parsed before the first response fills the connection.
  const stalled = 'GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(30)
  const signature = 'X-Hub-Signature-256: sha256=none\r\n'
  const head = `POST /network/whatsapp/${app.id} HTTP/1.1\r\nHost: x\r\n${signature}Transfer-Encoding: chunked\r\n\r\n`
  socket.write(`${stalled}${head}${(40 * KiB).toString(16)}\r\n${' '.repeat(40 * KiB)}\r\n`)
  await sleep(500)
  expect(await bytesInMemory()).toBe(0)
  expect(socket.destroyed).toBe(false)
})

test('at most 64 KiB of a body are read before the access check is done', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  onTestFinished(() => release())
  const { secret } = await newWorkspace(server)
  const locking = server.db.transaction(async (tx) => {
    await mayIdle(tx)
    // Blocks all access checks.
    await tx.change('lock table access_revision in access exclusive mode')
    locked.resolve()
    await released
  })
  await locked.promise
  const authorization = { Authorization: `Bearer ${secret}` }
  await open('/v1/echo', authorization, { address: '203.0.113.1', bytes: 200 * KiB, chunked: true })
  await open('/v1/echo', authorization, { address: '203.0.113.2', bytes: 200 * KiB })
  await holds(100 * KiB)
  await sleep(200)
  // Each is paused by the first chunk that exceeds 64 KiB.
  expect(await bytesInMemory()).toBeLessThanOrEqual(2 * 2 * 64 * KiB)
  release()
  await locking
  await holds(2 * 200 * KiB)
})
