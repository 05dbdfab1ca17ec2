import { expect, test, vi } from 'vitest'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import type { Db } from '../../db/db.ts'
import { newUuid } from '../../lib/ids.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { RequestRecorder } from '../requests/recorder.ts'
import { suspendWorkspace } from '../workspaces/workspaces.ts'
import { changeKey, listKeys, revokeKey } from './keys.ts'
import { recordedKeys } from './uses.ts'

const server = useTestServer({ trustProxy: ['127.0.0.1'] })
const newRecorder = (db: Db) => new RequestRecorder(db, newLogger('silent'), recordedKeys)

const lastUse = async (workspaceId: string, keyId: string) => {
  const key = (await listKeys(server.db, workspaceId)).find(({ id }) => id === keyId)
  return [key?.lastUsedAt ?? null, key?.lastUsedAddress ?? null]
}

test('the time and IP address of the last use are recorded', async () => {
  const workspace = await newWorkspace(server)
  const { key, secret } = await workspace.newKey()
  expect(await lastUse(workspace.id, key.id)).toEqual([null, null])
  server.clock.forward({ seconds: 3 })
  await server.call('/v1/me', { key: secret, headers: { 'x-forwarded-for': '2001:db8::9' } })
  const at = server.clock.now()
  await vi.waitFor(async () => expect(await lastUse(workspace.id, key.id)).toEqual([at, '2001:db8::9']), 60_000)
})

const recordOf = (workspaceId: string, keyId: string, at: Date, address = '192.0.2.1', code: string | null = null) => ({
  id: newUuid(),
  at,
  caller: { workspaceId, keyId },
  method: 'GET',
  route: '/v1/me',
  status: 200,
  code,
  durationUs: 1,
  address,
  userAgent: null,
})

test('rejected requests do not count as a use', async () => {
  const workspace = await newWorkspace(server)
  const before = server.clock.now()
  await workspace.call('/v1/me')
  await server.api.flush()
  expect((await lastUse(workspace.id, workspace.key.id))[0]).toEqual(before)
  server.clock.forward({ minutes: 1 })
  await changeKey(server.db, server.clock, workspace.key.id, { allowedRanges: ['192.0.2.1'] })
  await workspace.call('/v1/me')
  await suspendWorkspace(server.db, server.clock, workspace.id, 'test')
  await workspace.call('/v1/me')
  await revokeKey(server.db, server.clock, workspace.key.id)
  await workspace.call('/v1/me')
  await server.api.flush()
  expect((await lastUse(workspace.id, workspace.key.id))[0]).toEqual(before)
})

test('the latest use wins, regardless of the order and the process', async () => {
  const workspace = await newWorkspace(server)
  const { key } = workspace
  const now = server.clock.now().getTime()
  const [one, two] = [newRecorder(server.db), newRecorder(server.db)]
  one.record(recordOf(workspace.id, key.id, new Date(now + 2000), '192.0.2.2'))
  one.record(recordOf(workspace.id, key.id, new Date(now + 1000), '192.0.2.1'))
  two.record(recordOf(workspace.id, key.id, new Date(now), '192.0.2.3'))
  await one.stop()
  await two.stop()
  expect(await lastUse(workspace.id, key.id)).toEqual([new Date(now + 2000), '192.0.2.2'])
})

test('uses that could not be written are retried; a deleted key is skipped', async () => {
  const workspace = await newWorkspace(server)
  let isDown = true
  const db = {
    ...server.db,
    transaction: (work: (tx: Db) => Promise<unknown>) =>
      isDown ? Promise.reject(new Error('Connection terminated')) : server.db.transaction(work),
  } as Db
  const uses = newRecorder(db)
  const at = server.clock.now()
  uses.record(recordOf(workspace.id, workspace.key.id, at))
  uses.record(recordOf(workspace.id, newUuid(), at))
  await uses.stop()
  expect(await lastUse(workspace.id, workspace.key.id)).toEqual([null, null])
  isDown = false
  await uses.stop()
  expect(await lastUse(workspace.id, workspace.key.id)).toEqual([at, '192.0.2.1'])
})
