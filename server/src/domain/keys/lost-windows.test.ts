import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { scopes } from '@parley/contract/scopes'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { callApi } from '../../../testing/call.ts'
import { newFolder, removeFolder } from '../../../testing/data-dir.ts'
import { newDatabase } from '../../../testing/database.ts'
import { rowsRead } from '../../../testing/rows-read.ts'
import { type ServiceProcess, spawnService } from '../../../testing/service.ts'
import { until } from '../../../testing/until.ts'
import { type Connection, type Database, type Db, openDatabase } from '../../db/db.ts'
import { openEmbedded } from '../../db/embedded/embedded.ts'
import { migrate } from '../../db/migrate.ts'
import { systemClock } from '../../lib/clock.ts'
import { createWorkspace } from '../workspaces/workspaces.ts'
import { createKey } from './keys.ts'
import { type Charge, chargeRateLimits } from './rate-limit.sql.ts'

async function newKey(db: Database) {
  const { id: workspaceId } = await createWorkspace(db, systemClock, 'Shop')
  const input = { workspaceId, name: 'shop', scopes, budget: 30, createdBy: 'test' }
  const { key, secret } = await createKey(db, systemClock, input)
  return { subject: `k:${key.id}`, secret }
}

const suspendedClock = pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'testing', 'suspended-clock.ts')).href

async function startProcess(connection: Connection, env: Record<string, string> = {}): Promise<ServiceProcess> {
  const service = await spawnService(connection, { LOG_LEVEL: 'silent', ...env })
  onTestFinished(() => void service.child.kill('SIGKILL'))
  return service
}

const me = async ({ url }: ServiceProcess, key: string) => (await callApi(`${url}/v1/me`, { key })).status

const statusesOf = (responses: readonly number[]) => {
  const counts: Record<number, number> = {}
  for (const status of responses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const sendMany = async (service: ServiceProcess, secret: string, count: number) =>
  statusesOf(await Promise.all(Array.from({ length: count }, () => me(service, secret))))

test('after PostgreSQL crashed, a key whose window was open gets no more requests in it, and other keys do', async () => {
  const dataDir = newFolder()
  onTestFinished(() => removeFolder(dataDir))
  const embedded = await openEmbedded({ dataDir, purpose: 'visitor' })
  onTestFinished(() => embedded.close())
  await migrate(embedded.connection)
  const db = openDatabase(embedded.connection, () => {}, 2)
  onTestFinished(() => db.close())
  const [used, unused] = [await newKey(db), await newKey(db)]
  const service = await startProcess(embedded.connection)
  expect(await sendMany(service, used.secret, 20)).toEqual({ 200: 20 })
  const { pid } = (await db.first<{ pid: number }>('select pg_backend_pid() as pid')) ?? { pid: 0 }
  process.kill(pid, 'SIGKILL')
  await until('PostgreSQL works again', async () => (await me(service, unused.secret)) === 200, 60_000)
  expect(await db.first('select count(*) as count from budget_windows where subject = $1', [used.subject])).toEqual({
    count: 0,
  })
  // The crash may have taken long.
  await db.change('update window_openings set opened_at = clock_timestamp() where subject = $1', [used.subject])
  expect(await sendMany(service, used.secret, 20)).toEqual({ 429: 20 })
  expect(await sendMany(service, unused.secret, 20)).toEqual({ 200: 20 })
  // The next window is as usual.
  await db.change(`update window_openings set opened_at = opened_at - interval '1 minute'`)
  await db.change(`update budget_windows set opened_at = opened_at - interval '1 minute'`)
  expect(await sendMany(service, used.secret, 40)).toEqual({ 200: 30, 429: 10 })
}, 120_000)

test('requests of a process that was frozen until their window ended get 503, also if its machine was suspended', async () => {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  const db = openDatabase(connection, () => {}, 2)
  onTestFinished(() => db.close())
  const [stopped, suspended, other] = await Promise.all([
    startProcess(connection),
    startProcess(connection, { NODE_OPTIONS: `--import ${suspendedClock}` }),
    startProcess(connection),
  ])
  const frozen = [stopped, suspended]
  const keys = [await newKey(db), await newKey(db)] as const
  const secretOf = (index: number) => keys[index]?.secret ?? ''
  const subjects = keys.map(({ subject }) => subject)
  for (const [index, each] of frozen.entries()) expect(await me(each, secretOf(index))).toBe(200)
  // The windows end in a few seconds, as the clock of the database shows.
  await db.change(
    `update budget_windows set opened_at = clock_timestamp() - interval '50 seconds' where subject = any($1)`,
    [subjects],
  )
  const client = new pg.Client(connection)
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin')
  await client.query('select from budget_windows where subject = any($1) order by subject for update', [subjects])
  const held = frozen.map((each, index) => sendMany(each, secretOf(index), 20))
  const waiting = `select count(*)::int as count from pg_stat_activity
    where wait_event_type = 'Lock' and datname = current_database()`
  await until('the statements wait', async () => (await client.query(waiting)).rows[0].count === 2)
  for (const { child } of frozen) child.kill('SIGSTOP')
  await client.query('commit')
  // PostgreSQL has counted them, and the processes do not know it yet.
  await sleep(17_000)
  for (const index of keys.keys()) {
    expect(await sendMany(other, secretOf(index), 40)).toEqual({ 200: 30, 429: 10 })
  }
  for (const { child } of frozen) child.kill('SIGCONT')
  for (const [index, each] of frozen.entries()) {
    expect((await held[index])?.[200] ?? 0).toBe(0)
    expect(await sendMany(each, secretOf(index), 5)).toEqual({ 429: 5 })
  }
}, 120_000)

async function openNewDatabase(max: number): Promise<Database> {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  const db = openDatabase(connection, () => {}, max)
  onTestFinished(() => db.close())
  return db
}

/** Counts ten requests of one subject and returns how many were granted. */
async function charge(db: Db, subject: string, at: Date | null = null): Promise<number> {
  const row = await db.first<{ value: number }>('select value from access_revision')
  const charge: Charge = { subject, amount: 10, budget: 30, granted: 0, used: 0, msLeft: 0 }
  await chargeRateLimits(db, row?.value ?? 0, new Map([[subject, charge]]), at)
  return charge.granted
}

test('counting a request reads few windows, also if the statement was prepared while there were few', async () => {
  const db = await openNewDatabase(1)
  expect(await charge(db, 'k:1')).toBe(10)
  await db.change(`update counted_since set since = since - interval '1 minute'`)
  await db.change(
    `insert into budget_windows (subject, opened_at, used, budget, granted)
     select 'a:' || n, clock_timestamp(), 1, 600, 1 from generate_series(1, 20000) as n`,
  )
  expect(await rowsRead(db, 'budget_windows', (tx) => charge(tx, 'k:1'))).toBeLessThan(10)
})

test('a lost window does not replace one that another process has opened meanwhile', async () => {
  const db = await openNewDatabase(3)
  const lostAt = Date.now()
  const at = (seconds: number) => new Date(lostAt + seconds * 1000)
  await db.change(`insert into window_openings (subject, opened_at) values ('k:1', $1)`, [at(0)])
  let early: Promise<number> | undefined
  await db.transaction(async (tx) => {
    // It ended by the time of this request, and not yet by that of the other one.
    expect(await charge(tx, 'k:1', at(60.1))).toBe(10)
    early = charge(db, 'k:1', at(59.9))
    const waiting = `select count(*)::int as count from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`
    await until('it waits', async () => (await db.first<{ count: number }>(waiting))?.count === 1)
  })
  const granted = [10, await early]
  for (const second of [61, 62, 63]) granted.push(await charge(db, 'k:1', at(second)))
  expect(granted.reduce<number>((sum, each) => sum + (each ?? 0), 0)).toBeLessThanOrEqual(30)
})
