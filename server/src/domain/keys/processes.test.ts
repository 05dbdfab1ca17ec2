import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type ApiResponse, callApi } from '../../../testing/call.ts'
import { asAdmin } from '../../../testing/database.ts'
import { startDatabaseProxy } from '../../../testing/database-proxy.ts'
import { mayIdle } from '../../../testing/may-idle.ts'
import { serveApi, useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { ensureToday } from '../../db/partitions.ts'
import { systemClock } from '../../lib/clock.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { revokeKey } from './keys.ts'

const server = useTestServer()

/** Another process for the database of the test server. */
async function startProcess(changes: Partial<Parameters<typeof serveApi>[0]> = {}) {
  const served = await serveApi({ ...server, ...changes }, newLogger('silent'))
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= served.close()
    return closed
  }
  onTestFinished(close)
  return { url: served.url, close }
}

type Process = Pick<Awaited<ReturnType<typeof startProcess>>, 'url'>

async function newKey(rateLimitPerMin: number) {
  const workspace = await newWorkspace(server)
  return { workspaceId: workspace.id, ...(await workspace.newKey({ rateLimitPerMin })) }
}

const me = ({ url }: Process, key: string): Promise<ApiResponse> => callApi(`${url}/v1/me`, { key })

/** Sends `count` concurrent requests, spread over the processes. */
const sendMany = (to: readonly Process[], key: string, count: number): Promise<ApiResponse[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => me(to[index % to.length] as Process, key)))

const statusesOf = (responses: readonly ApiResponse[]) => {
  const counts: Record<number, number> = {}
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

test('requests that a process counted before it ended stay counted', async () => {
  const { secret } = await newKey(30)
  const first = await startProcess()
  expect(statusesOf(await sendMany([first], secret, 20))).toEqual({ 200: 20 })
  await first.close()
  expect(statusesOf(await sendMany([server], secret, 20))).toEqual({ 200: 10, 429: 10 })
})

test('processes with different clocks share one window', async () => {
  await ensureToday(server.db, systemClock)
  const processes = await Promise.all(
    [-12_000, 0, 12_000].map((aheadMs) => {
      const now = () => new Date(Date.now() + aheadMs)
      return startProcess({ clock: { now, pinned: () => null, machine: now } })
    }),
  )
  const { secret } = await newKey(30)
  const responses = await sendMany(processes, secret, 60)
  expect(statusesOf(responses)).toEqual({ 200: 30, 429: 30 })
  const resets = responses.map(({ headers }) => Number(headers.get('ratelimit-reset')))
  expect(Math.max(...resets) - Math.min(...resets)).toBeLessThan(20)
})

test('a request of a process that was frozen until its window ended gets 503, and others have the next window', async () => {
  const frozen = await startProcess()
  const { key, secret } = await newKey(30)
  expect((await me(frozen, secret)).status).toBe(200)
  let held: Promise<ApiResponse> | undefined
  await server.db.transaction(async (tx) => {
    await mayIdle(tx)
    await tx.rows('select from budget_windows where subject = $1 for update', [`k:${key.id}`])
    held = me(frozen, secret)
    await until('the statement waits', () =>
      server.db.first(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
         and query like '%budget_windows%'`,
      ),
    )
    // The process has asked PostgreSQL to count it, and sees the result a minute later.
    server.clock.forward({ seconds: 66 })
  })
  expect((await held)?.status).toBe(503)
  expect(statusesOf(await sendMany([server], secret, 40))).toEqual({ 200: 30, 429: 10 })
  expect(statusesOf(await sendMany([frozen], secret, 5))).toEqual({ 429: 5 })
})

test('a process that loses its database connections responds with 503, and the limit still holds', async () => {
  const proxy = await startDatabaseProxy(server.connection)
  const service = await startProcess({ connection: proxy.connection })
  const { secret } = await newKey(30)
  const responses: ApiResponse[] = await sendMany([service], secret, 5)
  for (let round = 0; round < 2; round++) {
    const inFlight = sendMany([service, server], secret, 40)
    // Requests that the database has counted stay counted, although the process never gets the result.
    proxy.hang()
    await sleep(20)
    proxy.cut()
    responses.push(...(await inFlight))
    expect(statusesOf(await sendMany([service], secret, 3))).toEqual({ 503: 3 })
    proxy.restore()
    await until('the process has a connection again', async () => {
      const response = await me(service, secret)
      responses.push(response)
      return response.status !== 503
    })
  }
  const { 200: passed = 0, ...others } = statusesOf(responses)
  expect(passed).toBeLessThanOrEqual(30)
  expect(Object.keys(others)).toEqual(['429', '503'])
  const left = responses
    .filter(({ status }) => status === 200)
    .map(({ headers }) => Number(headers.get('ratelimit-remaining')))
  expect(new Set(left).size).toBe(left.length)
})

test('a process continues counting after its database connections were terminated', async () => {
  const { secret } = await newKey(5)
  const left = () =>
    until('the process reconnects', async () => {
      const { status, headers } = await me(server, secret)
      return status !== 503 && headers.get('ratelimit-remaining')
    })
  expect([await left(), await left()]).toEqual(['4', '3'])
  const { database } = server.connection
  await asAdmin(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`)
  expect([await left(), await left()]).toEqual(['2', '1'])
})

test('the request log of several processes is complete', async () => {
  const { workspaceId, secret, key } = await newKey(30)
  const processes = await Promise.all([1, 2, 3].map(() => startProcess()))
  await sendMany(processes, secret, 60)
  await revokeKey(server.db, server.clock, key.id)
  await sendMany(processes, secret, 3)
  await Promise.all(processes.map((each) => each.close()))
  const logged = await server.db.rows(
    'select status, code, count(*) from request_log where workspace_id = $1 group by 1, 2 order by 1, 2',
    [workspaceId],
  )
  expect(logged).toEqual([
    { status: 200, code: null, count: 30 },
    { status: 401, code: 'key_revoked', count: 3 },
    { status: 429, code: 'rate_limited', count: 30 },
  ])
})
