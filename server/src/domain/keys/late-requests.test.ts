import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
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
})
