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
let elsewhere: Database
let listening: ChangeListener
const heard: string[] = []

/** Another process, which would deliver: it hears what this one, which does not, leaves to be taken up. */
beforeAll(async () => {
  elsewhere = openDatabase(server.connection, () => {}, 2)
  listening = listenForChanges(
    elsewhere,
    newLogger('silent'),
    ({ topic, workspaceId }) => void heard.push(`${topic} ${workspaceId}`),
    () => {},
  )
  await listening.ready
})

afterAll(async () => {
  await listening.stop()
  await elsewhere.close()
})

test('a process that does not deliver says at once that there is something to deliver', async () => {
  const line = await newLine(server)
  const { id } = await line.listen(await newReceiver())
  await line.write()
  const due = `due ${line.workspace.id}`
  await vi.waitFor(() => expect(heard).toContain(due), 2000)
  heard.length = 0
  await enableWebhook(server.db, server.clock, id)
  await vi.waitFor(() => expect(heard).toContain(due), 2000)
})

test('what was told last is sent before a process ends', async () => {
  const visitor = openDatabase(server.connection, () => {}, 2)
  visitor.notify(server.url, 'due')
  await visitor.close()
  await vi.waitFor(() => expect(heard).toContain(`due ${server.url}`), 2000)
})
