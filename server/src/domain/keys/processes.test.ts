import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { scopes } from '@parley/contract/scopes'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type ApiResponse, callApi } from '../../../testing/call.ts'
import { asAdmin, newDatabase } from '../../../testing/database.ts'
import { startDatabaseProxy } from '../../../testing/database-proxy.ts'
import { type ServiceProcess, spawnService } from '../../../testing/service.ts'
import { tempFolder } from '../../../testing/temp-folder.ts'
import { until } from '../../../testing/until.ts'
import { type Connection, type Database, openDatabase } from '../../db/db.ts'
import { systemClock } from '../../lib/clock.ts'
import { createWorkspace, suspendWorkspace } from '../workspaces/workspaces.ts'
import { changeKey, createKey, revokeKey } from './keys.ts'

/** Three operating-system processes with real clocks on one database, under constant traffic from other keys. */
let services: ServiceProcess[] = []
let connection: Connection
let db: Database
let drop = async () => {}
let stopTraffic = async () => {}

beforeAll(async () => {
  const database = await newDatabase()
  drop = database.drop
  connection = database.connection
  db = openDatabase(connection, () => {}, 5)
  services = await Promise.all([1, 2, 3].map(() => spawnService(connection)))
  stopTraffic = await startTraffic()
})
afterAll(async () => {
  await stopTraffic()
  for (const { child } of services) child.kill('SIGKILL')
  await db.close()
  await drop()
})

async function newKey(budget: number) {
  const workspace = await createWorkspace(db, systemClock, 'Shop')
  const input = { workspaceId: workspace.id, name: 'shop', scopes, budget, createdBy: 'test' }
  return { workspaceId: workspace.id, ...(await createKey(db, systemClock, input)) }
}

const me = ({ url }: ServiceProcess, key: string): Promise<ApiResponse> => callApi(`${url}/v1/me`, { key })

/** Sends `count` concurrent requests, spread over the processes. */
const sendMany = (to: readonly ServiceProcess[], key: string, count: number): Promise<ApiResponse[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => me(to[index % to.length] as ServiceProcess, key)))

const statusesOf = (responses: readonly ApiResponse[]) => {
  const counts: Record<number, number> = {}
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const remainingOf = (responses: readonly ApiResponse[]) =>
  responses
    .filter(({ status }) => status === 200)
    .map(({ headers }) => Number(headers.get('ratelimit-remaining')))
    .sort((a, b) => a - b)

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

/** Starts another process for this test only. */
async function startProcess(env: Record<string, string> = {}, at = connection): Promise<ServiceProcess> {
  const service = await spawnService(at, env)
  onTestFinished(() => void service.child.kill('SIGKILL'))
  return service
}

/** Keeps two requests in flight to each process, with separate keys, until it is stopped. */
async function startTraffic(): Promise<() => Promise<void>> {
  const keys = await Promise.all(Array.from({ length: 20 }, () => newKey(100)))
  let isOn = true
  let next = 0
  const use = async (service: ServiceProcess) => {
    while (isOn) {
      await me(service, keys[next++ % keys.length]?.secret as string)
      // Pause, so that this traffic leaves CPU time for processes that are starting.
      await sleep(5)
    }
  }
  const users = services.flatMap((service) => [use(service), use(service)])
  return async () => {
    isOn = false
    await Promise.all(users)
  }
}

test.each([3, 1])('of 200 concurrent requests to %i processes, a limit of 30 allows exactly 30', async (count) => {
  const { secret } = await newKey(30)
  const responses = await sendMany(services.slice(0, count), secret, 200)
  expect(statusesOf(responses)).toEqual({ 200: 30, 429: 170 })
  expect(remainingOf(responses)).toEqual(upTo(30))
  for (const { status, headers } of responses) {
    const reset = Number(headers.get('ratelimit-reset'))
    expect(reset).toBeGreaterThan(0)
    expect(reset).toBeLessThanOrEqual(60)
    expect(headers.get('retry-after')).toBe(status === 429 ? String(reset) : null)
  }
})

type CreatedKey = Awaited<ReturnType<typeof newKey>>

const changes: [label: string, change: (created: CreatedKey) => Promise<unknown>, code: string][] = [
  ['revoking a key', ({ key }) => revokeKey(db, systemClock, key.id), 'key_revoked'],
  ['lowering a rate limit', ({ key }) => changeKey(db, systemClock, key.id, { budget: 1 }), 'rate_limited'],
  [
    'suspending a workspace',
    ({ workspaceId }) => suspendWorkspace(db, systemClock, workspaceId, 'test'),
    'workspace_suspended',
  ],
  [
    'changing an IP allowlist',
    ({ key }) => changeKey(db, systemClock, key.id, { allowedRanges: ['192.0.2.0/24'] }),
    'ip_not_allowed',
  ],
]

test.each(changes)('after %s, the next request in every process is rejected', async (_label, change, code) => {
  for (const service of services) {
    const created = await newKey(100)
    expect(statusesOf(await sendMany(services, created.secret, 9))).toEqual({ 200: 9 })
    await change(created)
    expect((await me(service, created.secret)).body).toMatchObject({ error: { code } })
  }
})

test('requests that a killed process counted stay counted', async () => {
  const { secret } = await newKey(30)
  const first = await startProcess()
  expect(statusesOf(await sendMany([first], secret, 20))).toEqual({ 200: 20 })
  first.child.kill('SIGKILL')
  expect(statusesOf(await sendMany(services, secret, 20))).toEqual({ 200: 10, 429: 10 })
})

test('processes with different clocks share one window', async () => {
  const preload = pathToFileURL(join(import.meta.dirname, '../../../testing/wrong-clock.ts')).href
  const folder = tempFolder()
  const skewed = await Promise.all(
    [-12_000, 12_000].map((aheadMs) => {
      const file = join(folder, `ahead ${aheadMs}`)
      writeFileSync(file, String(aheadMs))
      return startProcess({ NODE_OPTIONS: `--import=${preload}`, PARLEY_TEST_CLOCK_FILE: file })
    }),
  )
  const { secret } = await newKey(30)
  const responses = await sendMany([...skewed, ...services], secret, 200)
  expect(statusesOf(responses)).toEqual({ 200: 30, 429: 170 })
  const resets = responses.map(({ headers }) => Number(headers.get('ratelimit-reset')))
  expect(Math.max(...resets) - Math.min(...resets)).toBeLessThan(20)
})

test('a process that loses its database connections responds with 503, and the limit still holds', async () => {
  const proxy = await startDatabaseProxy(connection)
  const service = await startProcess({ LOG_LEVEL: 'silent' }, proxy.connection)
  const { secret } = await newKey(30)
  const responses: ApiResponse[] = await sendMany([service], secret, 5)
  for (let round = 0; round < 5; round++) {
    const inFlight = sendMany([service, services[0] as ServiceProcess], secret, 40)
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
  const left = remainingOf(responses)
  expect(new Set(left).size).toBe(left.length)
})

test('a process continues counting after its database connections were terminated', async () => {
  const service = services[0] as ServiceProcess
  const { secret } = await newKey(5)
  const left = () =>
    until('the process reconnects', async () => {
      const { status, headers } = await me(service, secret)
      return status !== 503 && headers.get('ratelimit-remaining')
    })
  expect([await left(), await left()]).toEqual(['4', '3'])
  await asAdmin(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${connection.database}'`)
  expect([await left(), await left()]).toEqual(['2', '1'])
})

test('the request log of several processes is complete', async () => {
  const { workspaceId, secret, key } = await newKey(30)
  const processes = await Promise.all([1, 2, 3].map(() => startProcess()))
  await sendMany(processes, secret, 200)
  await revokeKey(db, systemClock, key.id)
  await sendMany(processes, secret, 3)
  expect(await Promise.all(processes.map((service) => service.stop()))).toEqual([0, 0, 0])
  const logged = await db.rows(
    'select status, code, count(*) from request_log where workspace_id = $1 group by 1, 2 order by 1, 2',
    [workspaceId],
  )
  expect(logged).toEqual([
    { status: 200, code: null, count: 30 },
    { status: 401, code: 'key_revoked', count: 3 },
    { status: 429, code: 'rate_limited', count: 170 },
  ])
})
