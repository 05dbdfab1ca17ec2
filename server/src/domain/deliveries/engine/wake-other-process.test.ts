import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newLine } from '../../../../testing/deliveries.ts'
import { useReceivers } from '../../../../testing/receiver.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { type Database, openDatabase } from '../../../db/db.ts'
import { type ChangeListener, listenForChanges } from '../../../db/listen-for-changes.ts'
import { newLogger } from '../../../lib/logger.ts'
import { enableWebhook } from '../../webhooks/webhooks.ts'

const server = useTestServer()
const newReceiver = useReceivers()
let otherDb: Database
let listening: ChangeListener
const received: string[] = []

/** Simulates another process with a delivery worker. This process has none, so it notifies the other one. */
beforeAll(async () => {
  otherDb = openDatabase(server.connection, () => {}, 2)
  listening = listenForChanges(
    otherDb,
    newLogger('silent'),
    ({ topic, workspaceId }) => void received.push(`${topic} ${workspaceId}`),
    () => {},
  )
  await listening.ready
})

afterAll(async () => {
  await listening.stop()
  await otherDb.close()
})

test('a process without a delivery worker notifies the others immediately when deliveries are due', async () => {
  const line = await newLine(server)
  const { id } = await line.listen(await newReceiver())
  await line.write()
  const due = `due ${line.workspace.id}`
  await vi.waitFor(() => expect(received).toContain(due), 60_000)
  received.length = 0
  await enableWebhook(server.db, server.clock, id)
  await vi.waitFor(() => expect(received).toContain(due), 60_000)
})

test('closing the database sends pending notifications first', async () => {
  const other = openDatabase(server.connection, () => {}, 2)
  other.notify(server.url, 'due')
  await other.close()
  await vi.waitFor(() => expect(received).toContain(`due ${server.url}`), 60_000)
})
