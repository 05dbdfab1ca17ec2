import pg from 'pg'
import { Type } from 'typebox'
import { expect, onTestFinished, test } from 'vitest'
import { rawConnection } from '../../testing/raw.ts'
import { useTestServer } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'
import { newWorkspace } from '../../testing/workspace.ts'
import { sendBytes } from './bytes.ts'
import { defaultByteLimits } from './limits/limits.ts'
import { bytesRoute, route } from './route.ts'

const KiB = 1024
let running = 0
const open: (() => void)[] = []

/** Waits until the test lets it continue. */
const waits = route({
  method: 'POST',
  path: '/v1/waits',
  scope: 'none',
  summary: 'Waits',
  tag: 'Test',
  body: Type.Object({}, { additionalProperties: true }),
  reply: Type.Null(),
  async handle() {
    running++
    await new Promise<void>((resolve) => open.push(resolve))
    running--
    return null
  },
})

/** A download whose file does not arrive until the test lets it continue. */
const arrives = bytesRoute({
  method: 'GET',
  path: '/v1/arrives',
  scope: 'none',
  summary: 'Arrives',
  tag: 'Test',
  async handle() {
    await new Promise<void>((resolve) => open.push(resolve))
    const read = async function* () {
      yield Buffer.from('file')
    }
    return sendBytes(
      { size: 4, contentType: 'text/plain', disposition: 'attachment', tag: '"1"', read },
      { range: undefined, ifRange: undefined },
    )
  },
})

const letAllContinue = () => {
  for (const resolve of open.splice(0)) resolve()
}

const server = useTestServer({
  moreRoutes: [waits, arrives],
  limits: {
    requests: { total: 100, each: 5 },
    bytes: { ...defaultByteLimits, workspace: { ...defaultByteLimits.workspace, each: 300 * KiB } },
  },
})

const call = (key: string) => server.call('/v1/waits', { method: 'POST', key, body: {} })

test('too many requests of one workspace get 503, and another workspace is not affected', async () => {
  const [busy, other] = [await newWorkspace(server), await newWorkspace(server)]
  const responses = Array.from({ length: 5 }, () => call(busy.secret))
  await until('five run', () => running === 5)
  const refused = await call(busy.secret)
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(refused.headers.get('ratelimit-limit')).not.toBeNull()
  expect(refused.body).toMatchObject({
    error: { code: 'service_unavailable', message: expect.stringContaining('of this workspace') },
  })
  const second = call(other.secret)
  await until('the other workspace runs too', () => running === 6)
  letAllContinue()
  expect((await Promise.all([...responses, second])).map(({ status }) => status)).toEqual(Array(6).fill(200))
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  expect(metrics).toMatch(/parley_http_overload_total\{limit="workspace_requests"\} [1-9]/)
})

test('a workspace with slow statements uses about half of the connections, and another one the rest', async () => {
  const [busy, other] = [await newWorkspace(server), await newWorkspace(server)]
  const client = new pg.Client(server.connection)
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin; lock table messages')
  // Each of them runs two statements at a time.
  const slow = Array.from({ length: 5 }, () => server.call('/v1/messages', { key: busy.secret }))
  const waiting = `select count(*)::int as count from pg_locks l join pg_class c on c.oid = l.relation
    where c.relname = 'messages' and not l.granted`
  const countWaiting = async () => (await client.query<{ count: number }>(waiting)).rows[0]?.count
  await until('three of five connections wait', async () => (await countWaiting()) === 3)
  expect((await server.call('/v1/senders', { key: other.secret })).status).toBe(200)
  expect(await countWaiting()).toBe(3)
  await client.query('commit')
  expect((await Promise.all(slow)).map(({ status }) => status)).toEqual(Array(5).fill(200))
})

test('downloads that wait for their file do not delay the other requests of their workspace', async () => {
  const { secret } = await newWorkspace(server)
  const get = () => fetch(`${server.url}/v1/arrives`, { headers: { authorization: `Bearer ${secret}` } })
  const downloads = Array.from({ length: 3 }, get)
  await until('all wait', () => open.length === 3)
  expect((await server.call('/v1/me', { key: secret })).status).toBe(200)
  letAllContinue()
  expect(await Promise.all((await Promise.all(downloads)).map((response) => response.text()))).toEqual(
    Array(3).fill('file'),
  )
})

test('the request bodies of one workspace are limited, from any number of keys', async () => {
  const [busy, other] = [await newWorkspace(server), await newWorkspace(server)]
  const upload = async (key: string, bytes: number) => {
    const connection = await rawConnection(server.url)
    connection.send(
      `POST /v1/waits HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${bytes + 1}\r\n\r\n${' '.repeat(bytes)}`,
    )
    return connection
  }
  const bodyBytes = async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    return Number(/^parley_http_body_bytes (\d+)$/m.exec(metrics)?.[1])
  }
  const first = await upload(busy.secret, 200 * KiB)
  await until('it is in memory', async () => (await bodyBytes()) >= 200 * KiB)
  const { secret } = await busy.newKey()
  const second = await upload(secret, 200 * KiB)
  expect(await second.responses(1)).toMatchObject([
    { status: 503, body: { error: { message: expect.stringContaining('of this workspace') } } },
  ])
  const third = await upload(other.secret, 200 * KiB)
  await until('the other workspace is not affected', async () => (await bodyBytes()) >= 400 * KiB)
  for (const { socket } of [first, second, third]) socket.destroy()
  await until('the memory is released', async () => (await bodyBytes()) === 0)
  const again = await upload(busy.secret, 200 * KiB)
  await until('there is memory again', async () => (await bodyBytes()) >= 200 * KiB)
  again.socket.destroy()
})
