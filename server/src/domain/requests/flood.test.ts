import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { loggedOf } from '../../../testing/log.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newSecret } from '../keys/secret.ts'
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
  await flood([{ from: '203.0.113.70' }], 1)
  await countsSince(later, 1)
  server.clock.forward({ minutes: -60 })
  const rows = () =>
    server.db.rows<Pick<Counted, 'count' | 'logged'>>(
      `select sum(count)::bigint as count, sum(logged)::bigint as logged from unauthenticated_minutes
       where client = '203.0.113.71'`,
    )
  for (let sent = 30; sent <= 90; sent += 30) {
    await flood(Array.from({ length: 30 }, () => ({ from: '203.0.113.71' })))
    await until('they are counted', async () => (await rows())[0]?.count === sent)
    // Until the next write, which forgets the minutes that are over.
    await sleep(1100)
  }
  expect(await rows()).toEqual([{ count: 90, logged: loggedPerClient }])
  server.clock.forward({ minutes: 60 })
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
  const total = 60_000
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
  const clients = 4 * clientsPerMinute
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

test('during a flood, an invalid key that resembles a key of a workspace is still an API error of that workspace', async () => {
  nextMinute()
  const workspace = await newWorkspace(server)
  const { secret } = workspace
  const mistyped = secret.slice(0, 20) + (secret[20] === 'x' ? 'y' : 'x') + secret.slice(21)
  let ended = false
  // Each address may send 600 per minute before it gets 429, so 16 of them send 9,600 invalid keys.
  const flooding = flood(
    Array.from({ length: 9600 }, (_, index) => ({
      from: `198.51.100.${100 + (index % 16)}`,
      authorization: `Bearer ${newSecret()}`,
    })),
    1,
  ).finally(() => {
    ended = true
  })
  const agent = `mistyped ${workspace.id}`
  let sent = 0
  while (!ended && sent < 20) {
    const headers = { authorization: `Bearer ${mistyped}`, 'user-agent': agent, 'x-forwarded-for': '203.0.113.60' }
    expect((await server.call('/v1/me', { headers })).status).toBe(401)
    sent++
    await sleep(20)
  }
  await flooding
  const logged = await until('they are logged for the workspace', async () => {
    const rows = await server.db.rows(
      'select 1 from request_log where workspace_id = $1 and key_id = $2 and user_agent = $3',
      [workspace.id, workspace.key.id, agent],
    )
    return rows.length >= sent && rows
  })
  expect(logged).toHaveLength(sent)
})
