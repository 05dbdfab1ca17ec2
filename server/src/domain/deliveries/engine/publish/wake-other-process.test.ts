import { afterAll, beforeAll, test } from 'vitest'
import { newLine } from '../../../../../testing/deliveries.ts'
import { useReceivers } from '../../../../../testing/receiver.ts'
import { useTestServer } from '../../../../../testing/test-server.ts'
import { until } from '../../../../../testing/until.ts'
import { type Database, openDatabase } from '../../../../db/db.ts'
import { type ChangeListener, listenForChanges } from '../../../../db/listen-for-changes.ts'
import type { OnChange } from '../../../../db/notices/change-notices.ts'
import { subscribe } from '../../../../db/topic.ts'
import { loopTopic } from '../../../../db/wake.ts'
import { newLogger } from '../../../../telemetry/logger.ts'
import { enableWebhook } from '../../../webhooks/webhooks.ts'
import { newOtherWorkers, workerChannels } from './other-workers.ts'

const server = useTestServer()
const newReceiver = useReceivers()
let otherDb: Database
let listening: ChangeListener
const received: string[] = []
let wakes = 0

/** Simulates another process with a delivery worker. This process has none, so it wakes the other one. */
beforeAll(async () => {
  otherDb = openDatabase(server.connection, () => {}, 2)
  const others = newOtherWorkers(otherDb)
  others.taker = { full: () => [], receive() {} }
  subscribe(otherDb, loopTopic('deliveries'), { wake: () => void wakes++ })
  const onChange: OnChange = (notice) => void received.push(`${notice?.topic} ${notice?.workspaceId}`)
  listening = listenForChanges(otherDb, newLogger('silent'), [onChange], workerChannels(otherDb, others))
  await listening.ready
  await until('this process knows the other one', () => server.runtime.otherWorkers.live().length > 0)
})

afterAll(async () => {
  await listening.stop()
  await otherDb.close()
})

test('a process without a delivery worker wakes another one when deliveries are due', async () => {
  const line = await newLine(server)
  const { id } = await line.listen(await newReceiver())
  const before = wakes
  await enableWebhook(server.db, server.clock, id)
  await until('the other process is woken', () => wakes > before)
})

test('closing the database sends pending notifications first', async () => {
  const other = openDatabase(server.connection, () => {}, 2)
  other.notify(server.url, 'messages')
  await other.close()
  await until('the notice arrives', () => received.includes(`messages ${server.url}`))
})
