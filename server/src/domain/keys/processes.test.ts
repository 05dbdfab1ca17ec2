import { scopes } from '@parley/contract/scopes'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, callApi } from '../../../testing/call.ts'
import { newDatabase } from '../../../testing/database.ts'
import { type ServiceProcess, spawnService } from '../../../testing/service.ts'
import { type Database, openDatabase } from '../../db/db.ts'
import { systemClock } from '../../lib/clock.ts'
import { createWorkspace } from '../workspaces/workspaces.ts'
import { createKey, revokeKey } from './keys.ts'

/** Three real processes with the real clock on one database. */
let services: ServiceProcess[] = []
let db: Database
let drop = async () => {}

beforeAll(async () => {
  const made = await newDatabase()
  drop = made.drop
  db = openDatabase(made.connection, () => {}, 2)
  services = await Promise.all([1, 2, 3].map(() => spawnService(made.connection)))
})
afterAll(async () => {
  for (const { child } of services) child.kill('SIGKILL')
  await db.close()
  await drop()
})

const call = (index: number, key: string): Promise<Answer> =>
  callApi(`${services[index % services.length]?.url}/v1/me`, { key })

test('three processes keep one budget, hear of a revocation at once, and leave a complete log behind', async () => {
  const workspace = await createWorkspace(db, systemClock, 'Shop')
  const wish = { workspaceId: workspace.id, name: 'shop', scopes, budget: 30, createdBy: 'test' }
  const { key, secret } = await createKey(db, systemClock, wish)

  const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => call(index, secret)))
  const passed = answers.filter(({ status }) => status === 200)
  expect(passed).toHaveLength(30)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(170)
  const left = passed.map(({ headers }) => Number(headers.get('ratelimit-remaining'))).sort((a, b) => a - b)
  expect(left).toEqual(Array.from({ length: 30 }, (_, index) => index))
  for (const { status, headers } of answers) {
    const reset = Number(headers.get('ratelimit-reset'))
    expect(reset).toBeGreaterThan(0)
    expect(reset).toBeLessThanOrEqual(60)
    expect(headers.get('retry-after')).toBe(status === 429 ? String(reset) : null)
  }

  await revokeKey(db, systemClock, key.id)
  for (const index of services.keys()) {
    expect((await call(index, secret)).body).toMatchObject({ error: { code: 'key_revoked' } })
  }

  expect(await Promise.all(services.map((service) => service.stop()))).toEqual([0, 0, 0])
  const logged = await db.rows(
    'select status, code, count(*) from request_log where workspace_id = $1 group by 1, 2 order by 1, 2',
    [workspace.id],
  )
  expect(logged).toEqual([
    { status: 200, code: null, count: 30 },
    { status: 401, code: 'key_revoked', count: 3 },
    { status: 429, code: 'rate_limited', count: 170 },
  ])
})
