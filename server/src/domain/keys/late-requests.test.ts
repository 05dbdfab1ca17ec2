import { setTimeout as sleep } from 'node:timers/promises'
import { scopes } from '@parley/contract/scopes'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { callApi } from '../../../testing/call.ts'
import { newDatabase } from '../../../testing/database.ts'
import { type ServiceProcess, spawnService } from '../../../testing/service.ts'
import { until } from '../../../testing/until.ts'
import { type Connection, type Database, openDatabase } from '../../db/db.ts'
import { systemClock } from '../../lib/clock.ts'
import { createWorkspace } from '../workspaces/workspaces.ts'
import { createKey } from './keys.ts'

async function newKey(db: Database) {
  const { id: workspaceId } = await createWorkspace(db, systemClock, 'Shop')
  const input = { workspaceId, name: 'shop', scopes, budget: 30, createdBy: 'test' }
  const { key, secret } = await createKey(db, systemClock, input)
  return { subject: `k:${key.id}`, secret }
}

async function startProcess(connection: Connection): Promise<ServiceProcess> {
  const service = await spawnService(connection, { LOG_LEVEL: 'silent' })
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

test('requests of a process that was frozen until their window ended get 503', async () => {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  const db = openDatabase(connection, () => {}, 2)
  onTestFinished(() => db.close())
  const [frozen, other] = await Promise.all([startProcess(connection), startProcess(connection)])
  const { subject, secret } = await newKey(db)
  expect(await me(frozen, secret)).toBe(200)
  // The window ends in a few seconds, as the clock of the database shows.
  await db.change(
    `update budget_windows set opened_at = clock_timestamp() - interval '50 seconds' where subject = $1`,
    [subject],
  )
  const client = new pg.Client(connection)
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin')
  await client.query('select from budget_windows where subject = $1 for update', [subject])
  const held = sendMany(frozen, secret, 20)
  const waiting = `select count(*)::int as count from pg_stat_activity
    where wait_event_type = 'Lock' and datname = current_database()`
  await until('the statement waits', async () => (await client.query(waiting)).rows[0].count === 1)
  frozen.child.kill('SIGSTOP')
  await client.query('commit')
  // PostgreSQL has counted them, and the process does not know it yet.
  await sleep(17_000)
  expect(await sendMany(other, secret, 40)).toEqual({ 200: 30, 429: 10 })
  frozen.child.kill('SIGCONT')
  expect((await held)[200] ?? 0).toBe(0)
  expect(await sendMany(frozen, secret, 5)).toEqual({ 429: 5 })
}, 120_000)
