import { afterEach, expect, test, vi } from 'vitest'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import type { Db } from '../../db/db.ts'
import type { RequestRecord } from '../../http/access-check.ts'
import { newUuid } from '../../lib/ids.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { recordedKeys } from '../keys/uses.ts'
import { RequestRecorder } from './recorder.ts'

const server = useTestServer()

const [workspaceId, keyId] = [newUuid(), newUuid()]

const recordOf = (more: Partial<RequestRecord> = {}): RequestRecord => ({
  id: newUuid(),
  at: server.clock.now(),
  caller: { workspaceId, keyId },
  method: 'GET',
  route: '/v1/me',
  status: 401,
  code: 'invalid_key',
  durationUs: 12,
  address: '192.0.2.1',
  userAgent: null,
  ...more,
})

/** A database that can fail: `isDown` like a lost connection, `failsAfterCommit` after the data was written. */
function unreliableDatabase() {
  const state = { isDown: false, failsAfterCommit: 0, attempts: 0 }
  const connectionLost = () => Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' })
  const unreliable =
    <Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      state.attempts++
      if (state.isDown) throw connectionLost()
      const result = await work(...args)
      if (state.failsAfterCommit-- > 0) throw connectionLost()
      return result
    }
  const db = {
    ...server.db,
    rows: unreliable(server.db.rows),
    first: unreliable(server.db.first),
    change: unreliable(server.db.change),
    transaction: unreliable(server.db.transaction),
  } as unknown as Db
  if ('copy' in server.db) Object.assign(db, { copy: unreliable(server.db.copy as never) })
  return { db, state }
}

const lines: string[] = []
const log = newLogger('debug', { write: (line) => void lines.push(line) })
const recorders: RequestRecorder[] = []
const newRecorder = (db: Db) => {
  // One workspace may have half of the places, which is more than what is written without a timer.
  const recorder = new RequestRecorder(db, log, recordedKeys, { ofWorkspaces: 8_000, unauthenticated: 100 })
  recorders.push(recorder)
  return recorder
}

afterEach(async () => {
  for (const each of recorders.splice(0)) await each.stop()
  lines.length = 0
})

const countOf = async (route: string) =>
  (await server.db.first<{ count: number }>('select count(*) from request_log where route = $1', [route]))?.count
const errorCountOf = async (code: string) =>
  (await server.db.first<{ sum: number }>('select sum(count)::int as sum from refusal_hours where code = $1', [code]))
    ?.sum

test('the queue is bounded while the database is down, and the number of dropped records is logged when it is back', async () => {
  const { db, state } = unreliableDatabase()
  state.isDown = true
  const recorder = newRecorder(db)
  for (let index = 0; index < 10_000; index++) recorder.record(recordOf({ route: '/lost' }))
  expect(recorder.waiting).toBe(4_000)
  await recorder.flush()
  expect(recorder.waiting).toBe(4_000)
  const attempts = state.attempts
  for (let index = 0; index < 100; index++) recorder.record(recordOf({ route: '/lost' }))
  expect(state.attempts, 'a request does not trigger another attempt').toBe(attempts)
  expect(lines.filter((line) => line.includes('request_log.write_failed'))).toHaveLength(1)

  state.isDown = false
  await recorder.flush()
  const written = (await countOf('/lost')) as number
  const lost = lines
    .map((line) => JSON.parse(line) as { event: string; requests?: number })
    .find(({ event }) => event === 'request_log.entries_lost')?.requests
  expect(recorder.waiting).toBe(0)
  expect(written + (lost ?? 0)).toBe(10_100)
  expect(db.telemetry.metrics.counts('requests not logged').get('too many waiting')).toBe(lost)
})

test('a flood of one workspace, or of requests without one, drops no record of another workspace', async () => {
  const { db, state } = unreliableDatabase()
  state.isDown = true
  const recorder = newRecorder(db)
  const [first, second, third] = [newUuid(), newUuid(), newUuid()]
  const record = (owner: string | null, count: number) => {
    const caller = owner === null ? null : { workspaceId: owner, keyId }
    for (let index = 0; index < count; index++) {
      recorder.record(recordOf({ route: '/shared', caller, address: `198.51.100.${index % 250}` }))
    }
  }
  record(first, 10_000)
  record(null, 1_000)
  record(second, 10_000)
  record(third, 60)
  state.isDown = false
  // The first one may have begun while the database was down.
  while (recorder.waiting > 0) await recorder.flush()
  const rows = await server.db.rows<{ workspace_id: string | null; count: number }>(
    `select workspace_id, count(*) from request_log where route = '/shared' group by 1`,
  )
  const counts = new Map(rows.map(({ workspace_id, count }) => [workspace_id, count]))
  expect([first, second, third, null].map((owner) => counts.get(owner))).toEqual([4_000, 2_000, 60, 100])
  record(first, 4_000)
  expect(recorder.waiting, 'written records leave their places').toBe(4_000)
})

test('a batch that was written before the connection was lost is not written twice', async () => {
  const { db, state } = unreliableDatabase()
  const recorder = newRecorder(db)
  state.failsAfterCommit = 1
  for (let index = 0; index < 5; index++) recorder.record(recordOf({ route: '/twice', code: 'key_expired' }))
  await recorder.flush()
  await recorder.flush()
  await recorder.flush()
  expect(recorder.waiting).toBe(0)
  expect(await countOf('/twice')).toBe(5)
  expect(await errorCountOf('key_expired')).toBe(5)
})

test('a record that the database rejects does not block the others', async () => {
  const recorder = newRecorder(server.db)
  const invalid = recordOf({ route: '/odd', status: 70_000 })
  const records = Array.from({ length: 700 }, () => recordOf({ route: '/odd', code: 'key_revoked' }))
  for (const record of [...records.slice(0, 300), invalid, ...records.slice(300)]) recorder.record(record)
  await recorder.flush()
  expect(recorder.waiting).toBe(0)
  expect(await countOf('/odd')).toBe(700)
  expect(await errorCountOf('key_revoked')).toBe(700)
  expect(lines.filter((line) => line.includes(invalid.id))).toHaveLength(1)
})

test('a batch that the database rejects does not block the next one', async () => {
  const { id, key } = await newWorkspace(server)
  const recorder = newRecorder(server.db)
  const caller = { workspaceId: id, keyId: key.id }
  recorder.record(recordOf({ route: '/rejected', caller, code: null, address: 'not an address' }))
  await recorder.flush()
  recorder.record(recordOf({ route: '/accepted', caller, code: null }))
  await recorder.flush()
  expect([await countOf('/rejected'), await countOf('/accepted')]).toEqual([0, 1])
  expect(recorder.waiting).toBe(0)
  // The address is rejected as the key's last use, so the counts alone are rejected as well.
  const lost = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request_log.entries_lost')
  expect(lost.map(({ requests }) => requests)).toEqual([1, 0])
})

test('the counts and the last use of keys in a batch that the database rejects are written without it', async () => {
  const { id, key } = await newWorkspace(server)
  const caller = { workspaceId: id, keyId: key.id }
  const recorder = newRecorder(server.db)
  recorder.record(recordOf({ caller, code: null, method: null as unknown as string }))
  await recorder.flush()
  expect(lines.filter((line) => line.includes('request_log.entries_lost'))).toHaveLength(1)
  const traffic = await server.db.rows('select count from traffic_hours where workspace_id = $1', [id])
  expect(traffic).toEqual([{ count: 1 }])
  const used = await server.db.first('select host(last_used_address) as address from key_usage where key_id = $1', [
    key.id,
  ])
  expect(used).toEqual({ address: '192.0.2.1' })
})

test('NUL characters, unpaired surrogates and very long durations are logged', async () => {
  const recorder = newRecorder(server.db)
  for (const [route, userAgent] of [
    ['/nul\0', 'a\0b'],
    ['/half\ud83d', '\udc00\ud800'],
    ['/long', 'x'],
  ] as const) {
    recorder.record(recordOf({ route, userAgent, durationUs: 86_400e6 }))
  }
  await recorder.flush()
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

test('requests of past and future days are logged', async () => {
  const recorder = newRecorder(server.db)
  for (const days of [-400, -1, 0, 1, 5, 400]) {
    const at = new Date(server.clock.now().getTime() + days * 86_400_000)
    recorder.record(recordOf({ route: '/days', at }))
  }
  await recorder.flush()
  expect(await countOf('/days')).toBe(6)
})

test('a request is logged soon, without a flush', async () => {
  const recorder = newRecorder(server.db)
  recorder.record(recordOf({ route: '/soon' }))
  await vi.waitFor(async () => expect(await countOf('/soon')).toBe(1), 60_000)
})

test('stop writes the queue, even if the first attempt fails', async () => {
  const { db, state } = unreliableDatabase()
  const recorder = newRecorder(db)
  state.failsAfterCommit = 1
  for (let index = 0; index < 3000; index++) recorder.record(recordOf({ route: '/stop' }))
  await recorder.stop()
  expect(await countOf('/stop')).toBe(3000)
})

test('the workspace ID and the key ID are logged', async () => {
  const { id, key } = await newWorkspace(server)
  const recorder = newRecorder(server.db)
  const caller = { workspaceId: id, keyId: key.id }
  recorder.record(recordOf({ caller, route: '/whose' }))
  await recorder.flush()
  expect(await server.db.rows(`select workspace_id, key_id from request_log where route = '/whose'`)).toEqual([
    { workspace_id: id, key_id: key.id },
  ])
})
