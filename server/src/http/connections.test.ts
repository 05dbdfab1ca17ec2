import dns from 'node:dns'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { newServiceDatabase } from '../../testing/database.ts'
import { mayIdle } from '../../testing/may-idle.ts'
import { rawConnection } from '../../testing/raw.ts'
import { startHere } from '../../testing/service-here.ts'
import { type TestServer, useTestServer } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'
import { newWorkspace } from '../../testing/workspace.ts'
import { defaultByteLimits, defaultClientTimeouts, newLimits } from './limits/limits.ts'

const opened: Socket[] = []

afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy()
})

interface Client {
  socket: Socket
  text(): string
  isClosed(): boolean
}

async function open(server: TestServer, localAddress = '127.0.0.1'): Promise<Client> {
  const { port } = new URL(server.url)
  const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress })
  opened.push(socket)
  let text = ''
  let closed = false
  socket.on('error', () => {}).on('data', (bytes: Buffer) => (text += bytes))
  socket.on('close', () => {
    closed = true
  })
  await once(socket, 'connect')
  return { socket, text: () => text, isClosed: () => closed }
}

const get = (path: string, forwarded = '127.0.0.1') =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${forwarded}\r\n\r\n`

/** A request that stays in progress, because its body does not end. */
const unfinished = (forwarded: string) =>
  `POST /console/api/sign-in HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\nContent-Type: application/json\r\nX-Forwarded-For: ${forwarded}\r\nContent-Length: 100\r\n\r\n{`

async function metric(server: TestServer, name: string): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  return Number(
    metrics
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1] ?? 0,
  )
}

const overload = (server: TestServer, limit: string) => metric(server, `parley_http_overload_total{limit="${limit}"}`)

/** Opens connections from an address and sends a request on each. Returns how many got a response. */
async function responding(server: TestServer, count: number, address: string): Promise<number> {
  const clients: Client[] = []
  for (let n = 0; n < count; n++) clients.push(await open(server, address))
  for (const { socket } of clients) socket.write(get('/docs/errors'))
  await until('each has a response or is closed', () =>
    clients.every((client) => client.text().startsWith('HTTP/1.1 200') || client.isClosed()),
  )
  return clients.filter((client) => !client.isClosed()).length
}

describe('without a proxy', () => {
  const server = useTestServer({ limits: { addressConnections: 5, processConnections: 20 } })

  test('one address has a limited number of connections, and others are not affected', async () => {
    expect(await responding(server, 8, '127.0.0.2')).toBe(5)
    expect(await responding(server, 2, '127.0.0.3')).toBe(2)
    for (const socket of opened.splice(0)) socket.destroy()
    await until('they are closed', async () => (await metric(server, 'parley_http_connections')) <= 2)
    expect(await overload(server, 'address_connections')).toBe(3)
    expect(await responding(server, 5, '127.0.0.2')).toBe(5)
  })

  test('X-Forwarded-For from an address that is no trusted proxy changes nothing', async () => {
    const clients: Client[] = []
    for (let n = 0; n < 7; n++) clients.push(await open(server, '127.0.0.4'))
    for (const [n, { socket }] of clients.entries()) socket.write(get('/docs/errors', `203.0.113.${n}`))
    await until('two are closed', () => clients.filter((client) => client.isClosed()).length === 2)
  })

  test('refusals are logged once per limit, however many there are', async () => {
    for (let n = 0; n < 3; n++) expect(await responding(server, 9, `127.0.1.${n}`)).toBe(5)
    const lines = server.logged.filter((line) => line.includes('"address_connections"'))
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'http.overload', limit: 'address_connections', count: 1, address: '127.0.0.2' },
    ])
  })

  test('the process closes idle connections, so that new ones are accepted', async () => {
    const addresses = ['127.0.2.1', '127.0.2.2', '127.0.2.3', '127.0.2.4', '127.0.2.5']
    for (const address of addresses) await responding(server, 5, address).catch(() => {})
    expect(await overload(server, 'process_connections')).toBeGreaterThan(0)
    await until('a new connection is accepted', async () => (await responding(server, 1, '127.0.2.9')) === 1)
  })
})

describe('behind a trusted proxy', () => {
  const server = useTestServer({
    trustProxy: ['127.0.0.1/32'],
    limits: { addressConnections: 5, addressRequests: 3, processRequests: 8 },
  })

  const startRequests = async (count: number, address: string) => {
    const clients = []
    for (let n = 0; n < count; n++) {
      const client = await open(server)
      client.socket.write(unfinished(address))
      clients.push(client)
    }
    return clients
  }

  const inProgress = (count: number) =>
    // The request of the metrics is in progress too.
    until(`${count} requests are in progress`, async () => {
      return (await metric(server, 'parley_http_requests_in_progress')) === count + 1
    })

  afterEach(async () => {
    for (const socket of opened.splice(0)) socket.destroy()
    await inProgress(0)
  })

  test('the connections of the proxy are not limited by its address', async () => {
    // The first request renders the page, and others that arrive during it would count as in progress.
    expect((await fetch(`${server.url}/docs/errors`)).status).toBe(200)
    expect(await responding(server, 15, '127.0.0.1')).toBe(15)
  })

  test('the requests of one client address are limited, with 503 and Retry-After, and others are not affected', async () => {
    await startRequests(3, '203.0.113.1')
    await inProgress(3)
    for (const path of ['/v1/me', '/console/api/session', '/docs/errors']) {
      const refused = await fetch(server.url + path, { headers: { 'X-Forwarded-For': '203.0.113.1' } })
      expect([path, refused.status, refused.headers.get('retry-after')]).toEqual([path, 503, '1'])
      expect(refused.headers.get('x-request-id')).toMatch(/^req_/)
      expect(refused.headers.has('ratelimit-limit')).toBe(path === '/v1/me')
      expect(await refused.json()).toMatchObject({
        error: { code: 'service_unavailable', message: expect.stringContaining('from your IP address') },
      })
    }
    const { secret: key } = await newWorkspace(server)
    const other = await server.call('/v1/me', { key, headers: { 'X-Forwarded-For': '203.0.113.2' } })
    expect(other.status).toBe(200)
    expect(await overload(server, 'address_requests')).toBe(3)
  })

  test('a /64 of IPv6 counts as one client address', async () => {
    await startRequests(2, '2001:db8:1:2::1')
    await startRequests(1, '2001:db8:1:2:ffff::9')
    await inProgress(3)
    const status = async (address: string) =>
      (await fetch(`${server.url}/docs/errors`, { headers: { 'X-Forwarded-For': address } })).status
    expect(await status('2001:db8:1:2:3::4')).toBe(503)
    expect(await status('2001:db8:1:3::1')).toBe(200)
  })

  test('the requests of the process are limited, and health checks still get a response', async () => {
    for (const address of ['203.0.113.1', '203.0.113.2']) await startRequests(3, address)
    await startRequests(1, '203.0.113.3')
    await inProgress(7)
    // It is refused if it arrives while the page is being sent, so there is one in each round, before the page.
    let next = 4
    await until('the limit is reached', async () => {
      await startRequests(1, `203.0.113.${next++}`)
      await fetch(`${server.url}/healthz`)
      return (await fetch(`${server.url}/docs/errors`)).status === 503
    })
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  })

  test('a request whose client has left counts until its work is done', async () => {
    const { secret } = await newWorkspace(server)
    const request = `GET /v1/me HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.1\r\nAuthorization: Bearer ${secret}\r\n\r\n`
    await server.db.transaction(async (tx) => {
      await mayIdle(tx)
      await tx.rows('lock table access_revision in access exclusive mode')
      for (let n = 0; n < 3; n++) {
        const { socket } = await open(server)
        socket.write(request)
        await inProgress(n + 1)
        socket.destroy()
      }
      const { status } = await fetch(`${server.url}/v1/me`, { headers: { 'X-Forwarded-For': '203.0.113.1' } })
      expect(status).toBe(503)
    })
    await inProgress(0)
  })
})

describe('bytes that are not HTTP', () => {
  const server = useTestServer({ limits: { addressRequests: 3 } })

  test('count as a request until the access check is done, even if the client has left', async () => {
    await server.db.transaction(async (tx) => {
      await mayIdle(tx)
      await tx.rows('lock table access_revision in access exclusive mode')
      for (let n = 1; n <= 3; n++) {
        const { socket } = await open(server, '127.0.0.2')
        socket.write('rubbish\r\n\r\n')
        // The request of the metrics is in progress too.
        await until('it counts', async () => (await metric(server, 'parley_http_requests_in_progress')) === n + 1)
        socket.destroy()
      }
      const refused = await open(server, '127.0.0.2')
      refused.socket.write('rubbish\r\n\r\n')
      await until('it is closed', () => refused.isClosed())
      expect(refused.text()).toBe('')
    })
    await until('they are done', async () => (await metric(server, 'parley_http_requests_in_progress')) === 1)
  })
})

describe('clients that do not read', () => {
  const server = useTestServer({
    limits: {
      timeouts: { ...defaultClientTimeouts, keepAliveMs: 300 },
      bytes: { ...defaultByteLimits, unread: { ...defaultByteLimits.unread, each: 1024 * 1024 } },
      connectionRequests: 50,
    },
  })

  /** Sends requests, and reads no response. */
  async function openUnread(address: string, requests: string): Promise<void> {
    const { socket } = await open(server, address)
    socket.pause()
    socket.write(requests)
  }

  test('a connection is cut if too many bytes of its responses are not read', async () => {
    // The operating system buffers a few of them.
    await openUnread('127.0.0.2', get('/v1/openapi.json').repeat(50))
    await until('it is cut', async () => (await overload(server, 'unread_responses')) === 1)
  })

  test('a client that reads gets all of them', async () => {
    const connection = await rawConnection(server.url)
    connection.send(get('/v1/openapi.json').repeat(4))
    expect((await connection.responses(4)).at(-1)?.status).toBe(200)
    connection.socket.destroy()
  })

  test('a connection is cut if it sends too many requests before it gets responses', async () => {
    const client = await open(server)
    client.socket.write(get('/v1/me').repeat(51))
    await until('it is cut', () => client.isClosed())
    expect(await overload(server, 'pipelined_requests')).toBe(1)
  })

  test('an idle connection is closed', async () => {
    const client = await open(server)
    client.socket.write(get('/docs/errors'))
    await until('it is closed', () => client.isClosed())
    expect(client.text()).toMatch(/^HTTP\/1.1 200/)
  })
})

describe('a response that is not read', () => {
  const server = useTestServer({ limits: { timeouts: { ...defaultClientTimeouts, stalledMs: 2000 } } })

  test('is cut after a while, even if it is small enough', async () => {
    const { socket } = await open(server)
    socket.pause()
    // More than the operating system buffers, and less than a connection may leave unread.
    socket.write(get('/v1/openapi.json').repeat(20))
    // Not over HTTP: that request could be cut too on a busy machine.
    await until('it is cut', () => server.db.telemetry.metrics.counts('overload').has('stalled_connections'))
  })
})

describe('the limit of connections', () => {
  const settings = { maxConnections: 10_000, maxConnectionsPerAddress: 1_000 }

  test.each([
    [Number.POSITIVE_INFINITY, 10_000, 1_000],
    [1_048_576, 10_000, 1_000],
    [4_096, 2_048, 1_000],
    [1_024, 512, 256],
    [256, 128, 64],
  ])('with %d file descriptors it leaves a reserve', (descriptors, processConnections, addressConnections) => {
    expect(newLimits(settings, descriptors)).toMatchObject({ processConnections, addressConnections })
  })

  test('by default it is below the limit of this process', () => {
    expect(newLimits(settings).processConnections).toBeLessThanOrEqual(10_000)
  })
})

test('HOST=localhost listens on one address, so every connection has the limits', async () => {
  const { connection, drop } = await newServiceDatabase()
  onTestFinished(drop)
  const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }))
  const { lookup } = dns
  const spy = vi
    .spyOn(dns, 'lookup')
    .mockImplementation(((name: string, options: object, done: AllFound) =>
      name === 'localhost' && 'all' in options && options.all
        ? process.nextTick(done, null, addresses)
        : lookup(name, options, done as never)) as never)
  onTestFinished(() => spy.mockRestore())
  const { url } = await startHere(connection, { HOST: 'localhost', PARLEY_ROLE: 'api' })
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  const other = connect({ host: '127.0.0.2', port: Number(new URL(url).port) })
  opened.push(other)
  await expect(once(other, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})

type AllFound = (error: Error | null, addresses: dns.LookupAddress[]) => void
