import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { asSuperuser, openServer } from '../../../../testing/cluster.ts'
import { copyDataDir, newFolder, removeFolder } from '../../../../testing/data-dir.ts'
import { FakeClock } from '../../../../testing/fake-clock.ts'
import { newDataDir } from '../../../../testing/prepared-data-dir.ts'
import { serveApi } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import type { Db } from '../../../db/db.ts'
import { ensurePartitions } from '../../../db/partitions.ts'
import { newLogger } from '../../../telemetry/logger.ts'
import { createKey } from '../../keys/keys.ts'
import { createWorkspace } from '../../workspaces/workspaces.ts'
import { publish } from '../engine/publish/publish.ts'

test('a failover that loses events, whose transaction IDs are used again, skips none of the new ones', async () => {
  const folder = newFolder()
  onTestFinished(() => removeFolder(folder))
  const copy = copyDataDir(newDataDir(join(folder, 'first')), join(folder, 'second'))
  writeFileSync(join(copy, 'postgres', 'standby.signal'), '')
  const primary = await openServer(join(folder, 'first'))
  onTestFinished(() => primary.close())
  const { host, port, user, password } = primary.admin
  const follow = `host='${host}' port=${port} user=${user} password=${password}`
  const standby = await openServer(copy, { primary_conninfo: follow })
  const [clock, secretKeys, quiet] = [new FakeClock(), new Map([['test', randomBytes(32)]]), newLogger('silent')]
  const before = await serveApi({ connection: primary.connection, clock, secretKeys }, quiet)
  await ensurePartitions(before.db, clock)
  const { id: workspaceId } = await createWorkspace(before.db, clock, 'Test')
  const key = { workspaceId, name: 'reader', scopes: ['events:read' as const], rateLimitPerMin: 100, createdBy: 'test' }
  const { secret } = await createKey(before.db, clock, key)
  const publishOne = (db: Db) =>
    db.transaction((tx) => publish(tx, clock.now(), [{ workspaceId, type: 'message.sent', data: {} }]))
  async function read(url: string, after: string | null) {
    const headers = { authorization: `Bearer ${secret}` }
    const response = await fetch(`${url}/v1/events${after === null ? '' : `?after=${after}`}`, { headers })
    expect(response.status).toBe(200)
    return (await response.json()) as { data: { id: string }[]; next_cursor: string }
  }
  for (let n = 0; n < 2; n++) await publishOne(before.db)
  const first = await read(before.url, null)
  expect(first.data).toHaveLength(2)

  // The standby has everything up to here, and is stopped. So what follows is lost with the primary.
  const { at } = (await before.db.first<{ at: string }>('select pg_current_wal_insert_lsn()::text as at')) ?? { at: '' }
  const follower = new pg.Client(standby.connection)
  await follower.connect()
  const replayed = 'select pg_last_wal_replay_lsn() >= $1::pg_lsn as replayed'
  await until('the standby has replayed it', async () => (await follower.query(replayed, [at])).rows[0].replayed)
  await follower.end()
  await standby.close()
  for (let n = 0; n < 20; n++) await publishOne(before.db)
  const lost = await read(before.url, first.next_cursor)
  expect(lost.data).toHaveLength(20)
  await before.close()
  const promoted = await openServer(copy)
  onTestFinished(() => promoted.close())
  await asSuperuser(promoted, 'select pg_promote()')

  const after = await serveApi({ connection: promoted.connection, clock, secretKeys }, quiet)
  onTestFinished(after.close)
  for (let n = 0; n < 3; n++) await publishOne(after.db)
  const stored = await after.db.rows<{ id: string }>('select id from events order by position')
  expect(stored).toHaveLength(5)
  const next = await read(after.url, lost.next_cursor)
  expect(next.data.map(({ id }) => id)).toEqual(stored.slice(2).map(({ id }) => id))
  // A cursor of an event that the new server has repeats nothing either, and nor does the new one.
  expect((await read(after.url, first.next_cursor)).data).toEqual(next.data)
  expect((await read(after.url, next.next_cursor)).data).toEqual([])
  expect((await read(after.url, null)).data.map(({ id }) => id)).toEqual(stored.map(({ id }) => id))
})
