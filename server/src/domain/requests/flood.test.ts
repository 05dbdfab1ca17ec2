import { connect } from 'node:net'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { loggedOf } from '../../../testing/log.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newUuid } from '../../lib/ids.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { recordedKeys } from '../keys/uses.ts'
import { RequestRecorder } from './recorder.ts'
import { countRejectedWebhooks, rejectedWebhook } from './rejected-webhooks.ts'
import { clientsPerMinute, loggedPerClient, loggedPerMinute } from './unauthenticated.ts'

const server = useTestServer({ trustProxy: ['127.0.0.1'] })

interface Sent {
  from: string
  path?: string
  authorization?: string
}

const rawRequest = ({ from, path = '/v1/me', authorization }: Sent): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\n${
    authorization === undefined ? '' : `Authorization: ${authorization}\r\n`
  }\r\n`

/** Below the limit of requests in progress on one connection. */
const pipelined = 50

/** Sends all requests over a few connections and resolves when all are responded to. */
async function flood(requests: readonly Sent[], connections = 4): Promise<void> {
  const { hostname, port } = new URL(server.url)
  const share = Math.ceil(requests.length / connections)
  const send = (part: readonly Sent[]) =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(Number(port), hostname)
      let sent = 0
      let responses = 0
      let rest = ''
      const sendMore = () => {
        const next = part.slice(sent, sent + pipelined)
        sent += next.length
        socket.write(next.map(rawRequest).join(''))
      }
      socket.on('error', reject)
      socket.on('data', (chunk) => {
        const pieces = (rest + chunk.toString('latin1')).split('HTTP/1.1 ')
        responses += pieces.length - 1
        rest = pieces.at(-1)?.slice(-9) ?? ''
        if (responses === part.length) socket.end(() => resolve())
        else if (responses === sent) sendMore()
      })
      sendMore()
    })
  await Promise.all(
    Array.from({ length: connections }, (_, index) => send(requests.slice(index * share, (index + 1) * share))),
  )
}

interface Counted {
  code: string | null
  client: string | null
  count: number
  logged: number
}

/** Waits until the counts since a time add up to `total`, and returns them. */
const countsSince = (since: Date, total: number): Promise<Counted[]> =>
  until(`${total} unauthenticated requests are counted`, async () => {
    const rows = await server.db.rows<Counted>(
      `select code, client, sum(count)::bigint as count, sum(logged)::bigint as logged from unauthenticated_minutes
       where last_at >= $1 group by 1, 2 order by 1, 2`,
      [since],
    )
    const sum = rows.reduce((all, { count }) => all + count, 0)
    if (sum > total) throw new Error(`${sum} are counted instead of ${total}`)
    return sum === total && rows
  })

const loggedSince = (since: Date) =>
  server.db.rows<{ code: string | null; address: string }>(
    'select code, address from request_log where workspace_id is null and at >= $1',
    [since],
  )

/** Each test begins in its own minute. */
function nextMinute(): Date {
  server.clock.forward({ minutes: 2 })
  return server.clock.now()
}

test('the first requests of a client are logged in full, and the operator sees how many there were', async () => {
  const since = nextMinute()
  await flood(Array.from({ length: 50 }, () => ({ from: '2001:db8:7::1', path: '/v1/openapi.json' })))
  await flood(Array.from({ length: 25 }, () => ({ from: '2001:db8:7::2', authorization: 'Bearer undefined' })))
  expect(await countsSince(since, 75)).toEqual([
    { code: 'invalid_key', client: '2001:db8:7::/64', count: 25, logged: loggedPerClient },
    { code: null, client: '2001:db8:7::/64', count: 50, logged: loggedPerClient },
  ])
  await until('they are logged', async () => (await loggedSince(since)).length === 2 * loggedPerClient)
  const operator = await signedIn(server, { operator: true })
  const before = (await operator.call('/operator/traffic')).body.refusals
  const found = before.find(({ code }: { code: string }) => code === 'invalid_key')
  expect(found.count).toBeGreaterThanOrEqual(25)
  await flood(Array.from({ length: 40 }, () => ({ from: '203.0.113.40' })))
  await countsSince(since, 115)
  const after = (await operator.call('/operator/traffic')).body.refusals
  const next = after.find(({ code }: { code: string }) => code === 'invalid_key')
  expect(next.count - found.count).toBe(40)
})

test('the limits of a minute also apply after the clock was set back', async () => {
  const later = nextMinute()
  const requests = new RequestRecorder(server.db, newLogger('silent'), recordedKeys)
  const record = (at: Date, address: string) =>
    requests.record({
      ...{ id: newUuid(), at, caller: null, method: 'GET', route: '/v1/me', status: 401, code: 'invalid_key' },
      ...{ durationUs: 1, address, userAgent: null },
    })
  record(later, '203.0.113.70')
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 30; n++) record(new Date(later.getTime() - 3_600_000), '203.0.113.71')
    await requests.stop()
  }
  expect(
    await server.db.rows(`select id from request_log where workspace_id is null and address = '203.0.113.71'`),
  ).toHaveLength(loggedPerClient)
  const [counted] = await server.db.rows(
    `select sum(count)::bigint as count, sum(logged)::bigint as logged from unauthenticated_minutes where client = '203.0.113.71'`,
  )
  expect(counted).toEqual({ count: 90, logged: loggedPerClient })
})

test('invalid keys from many addresses do not keep a rejected webhook out of the log', async () => {
  const at = nextMinute()
  const requests = new RequestRecorder(server.db, newLogger('silent'), recordedKeys)
  for (let n = 0; n < clientsPerMinute; n++) {
    requests.record({
      ...{ id: newUuid(), at, caller: null, method: 'GET', route: '/v1/me', status: 401, code: 'invalid_key' },
      ...{ durationUs: 1, address: `198.51.100.${n}`, userAgent: null },
    })
  }
  const appId = newUuid()
  requests.record(rejectedWebhook(at, appId, '203.0.113.72', null))
  await requests.stop()
  expect(await countRejectedWebhooks(server.db, appId, at)).toEqual({ count: 1, lastAt: at })
})

test('a flood of unauthenticated requests while the database is slow drops no request of a workspace', async () => {
  const since = nextMinute()
  const workspace = await newWorkspace(server)
  // Not a transaction of the service, which PostgreSQL would end after a few idle seconds.
  const locking = new pg.Client(server.connection)
  await locking.connect()
  onTestFinished(() => locking.end())
  await locking.query('begin')
  await locking.query('lock table request_log in share mode')
  const headers = { 'user-agent': `customer ${workspace.id}` }
  const call = () => workspace.call('/v1/me', { headers })
  for (let index = 0; index < 30; index++) expect((await call()).status).toBe(200)
  const total = 6_000
  await flood(Array.from({ length: total }, (_, index) => ({ from: `198.51.100.${index % 5}` })))
  for (let index = 0; index < 30; index++) expect((await call()).status).toBe(200)
  await locking.query('commit')
  expect(await loggedOf(server, headers['user-agent'], 60)).toHaveLength(60)
  const counts = await countsSince(since, total)
  // The limit of 600 requests per minute and address applies too.
  expect(counts.map(({ code, client }) => `${code} ${client}`)).toEqual(
    ['invalid_key', 'rate_limited'].flatMap((code) => [0, 1, 2, 3, 4].map((last) => `${code} 198.51.100.${last}`)),
  )
  expect(counts.every(({ logged }) => logged === loggedPerClient)).toBe(true)
  expect(await loggedSince(since)).toHaveLength(counts.length * loggedPerClient)
})

test('of many clients, only some are counted separately and the others together, and few requests are logged', async () => {
  const since = nextMinute()
  const clients = clientsPerMinute + 50
  const total = 12 * clients
  // A /64 of IPv6 is one client, whatever its last 64 bits are.
  const from = (index: number) => `2001:db8:0:${(index % clients).toString(16)}::${(index + 1).toString(16)}`
  await flood(Array.from({ length: total }, (_, index) => ({ from: from(index), path: '/v1/nothing' })))
  const counts = await countsSince(since, total)
  const others = counts.filter(({ client }) => client === null)
  expect(counts.length - others.length).toBe(clientsPerMinute)
  expect(others).toEqual([{ code: 'invalid_key', client: null, count: expect.any(Number), logged: 0 }])
  expect(counts.filter(({ client }) => client !== null).every(({ client }) => client?.endsWith('::/64'))).toBe(true)
  const logged = await loggedSince(since)
  expect(logged.length).toBeLessThanOrEqual(loggedPerMinute + clientsPerMinute)
  expect(counts.every(({ client, logged }) => client === null || logged > 0)).toBe(true)
  expect(logged.length).toBe(counts.reduce((all, each) => all + each.logged, 0))
})
