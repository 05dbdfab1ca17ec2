import { afterEach, expect, test, vi } from 'vitest'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import type { Db } from '../../db/db.ts'
import type { RequestRecord } from '../../lib/access-check.ts'
import { newUuid } from '../../lib/ids.ts'
import { newLogger } from '../../lib/logger.ts'
import { RequestLog } from './request-log.ts'

const server = useTestServer()

const recordOf = (more: Partial<RequestRecord> = {}): RequestRecord => ({
  id: newUuid(),
  at: server.clock.now(),
  caller: null,
  method: 'GET',
  route: '/v1/me',
  status: 401,
  code: 'invalid_key',
  durationUs: 12,
  address: '192.0.2.1',
  userAgent: null,
  ...more,
})

/** The house's database behind a switch: away, it fails like a lost connection; `after`, it fails once all is written. */
function unsteady() {
  const state = { away: false, failsAfterCommit: 0, tries: 0 }
  const lost = () => Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' })
  const through =
    <Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      state.tries++
      if (state.away) throw lost()
      const result = await work(...args)
      if (state.failsAfterCommit-- > 0) throw lost()
      return result
    }
  const db = {
    ...server.db,
    rows: through(server.db.rows),
    first: through(server.db.first),
    change: through(server.db.change),
    transaction: through(server.db.transaction),
  } as unknown as Db
  if ('copy' in server.db) Object.assign(db, { copy: through(server.db.copy as never) })
  return { db, state }
}

const lines: string[] = []
const log = newLogger('debug', { write: (line) => void lines.push(line) })
const logs: RequestLog[] = []
const newLog = (db: Db) => {
  const made = new RequestLog(db, log)
  logs.push(made)
  return made
}

afterEach(async () => {
  for (const each of logs.splice(0)) await each.stop()
  lines.length = 0
})

const countOf = async (route: string) =>
  (await server.db.first<{ count: number }>('select count(*) from request_log where route = $1', [route]))?.count
const refusedOf = async (code: string) =>
  (await server.db.first<{ sum: number }>('select sum(count)::int as sum from refusal_hours where code = $1', [code]))
    ?.sum

test('what waits is bounded while the database is away, and what was lost is told when it is back', async () => {
  const { db, state } = unsteady()
  state.away = true
  const requestLog = newLog(db)
  for (let index = 0; index < 120_000; index++) requestLog.record(recordOf({ route: '/lost' }))
  expect(requestLog.waiting).toBeLessThanOrEqual(50_000)
  await requestLog.flush()
  expect(requestLog.waiting).toBeGreaterThan(40_000)
  const tries = state.tries
  for (let index = 0; index < 1000; index++) requestLog.record(recordOf({ route: '/lost' }))
  expect(state.tries, 'a request does not make the database be tried again').toBe(tries)
  expect(lines.filter((line) => line.includes('request_log.write_failed'))).toHaveLength(1)

  state.away = false
  await requestLog.flush()
  const written = (await countOf('/lost')) as number
  const lost = lines
    .map((line) => JSON.parse(line) as { event: string; requests?: number })
    .find(({ event }) => event === 'request_log.entries_lost')?.requests
  expect(requestLog.waiting).toBe(0)
  expect(written + (lost ?? 0)).toBe(121_000)
})

test('a batch that was written before the connection broke is not written twice', async () => {
  const { db, state } = unsteady()
  const requestLog = newLog(db)
  state.failsAfterCommit = 1
  for (let index = 0; index < 5; index++) requestLog.record(recordOf({ route: '/twice', code: 'key_expired' }))
  await requestLog.flush()
  await requestLog.flush()
  await requestLog.flush()
  expect(requestLog.waiting).toBe(0)
  expect(await countOf('/twice')).toBe(5)
  expect(await refusedOf('key_expired')).toBe(5)
})

test('a record that the database will never take does not hold up the others', async () => {
  const requestLog = newLog(server.db)
  const odd = recordOf({ route: '/odd', status: 70_000 })
  const records = Array.from({ length: 700 }, () => recordOf({ route: '/odd', code: 'key_revoked' }))
  for (const record of [...records.slice(0, 300), odd, ...records.slice(300)]) requestLog.record(record)
  await requestLog.flush()
  expect(requestLog.waiting).toBe(0)
  expect(await countOf('/odd')).toBe(700)
  expect(await refusedOf('key_revoked')).toBe(700)
  expect(lines.filter((line) => line.includes(odd.id))).toHaveLength(1)
})

test('whatever a caller wrote is logged: NUL, half a character, an answer that took a day', async () => {
  const requestLog = newLog(server.db)
  for (const [route, userAgent] of [
    ['/nul\0', 'a\0b'],
    ['/half\ud83d', '\udc00\ud800'],
    ['/long', 'x'],
  ] as const) {
    requestLog.record(recordOf({ route, userAgent, durationUs: 86_400e6 }))
  }
  await requestLog.flush()
  expect(lines).toEqual([])
  const rows = await server.db.rows<{ route: string; user_agent: string }>(
    `select route, user_agent from request_log where route ~ '^/(nul|half|long)' order by route`,
  )
  expect(rows).toEqual([
    { route: '/half\ufffd', user_agent: '\ufffd\ufffd' },
    { route: '/long', user_agent: 'x' },
    { route: '/nul', user_agent: 'ab' },
  ])
})

test('requests of several days, past and to come, find their place', async () => {
  const requestLog = newLog(server.db)
  for (const days of [-400, -1, 0, 1, 5, 400]) {
    const at = new Date(server.clock.now().getTime() + days * 86_400_000)
    requestLog.record(recordOf({ route: '/days', at }))
  }
  await requestLog.flush()
  expect(await countOf('/days')).toBe(6)
})

test('the log is at most a second behind without anybody asking', async () => {
  const requestLog = newLog(server.db)
  requestLog.record(recordOf({ route: '/soon' }))
  await vi.waitFor(async () => expect(await countOf('/soon')).toBe(1), { timeout: 1000, interval: 20 })
})

test('a stop writes what waits, also when the first try fails', async () => {
  const { db, state } = unsteady()
  const requestLog = newLog(db)
  state.failsAfterCommit = 1
  for (let index = 0; index < 3000; index++) requestLog.record(recordOf({ route: '/stop' }))
  await requestLog.stop()
  expect(await countOf('/stop')).toBe(3000)
})

test('a workspace’s id and a key’s id go with the record', async () => {
  const { id, key } = await newWorkspace(server)
  const requestLog = newLog(server.db)
  const caller = { workspaceId: id, keyId: key.id, keyName: '', scopes: [], budget: 1 }
  requestLog.record(recordOf({ caller, route: '/whose' }))
  await requestLog.flush()
  expect(await server.db.rows(`select workspace_id, key_id from request_log where route = '/whose'`)).toEqual([
    { workspace_id: id, key_id: key.id },
  ])
})
