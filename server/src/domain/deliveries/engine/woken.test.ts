import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newLine } from '../../../../testing/deliveries.ts'
import { useHouse } from '../../../../testing/house.ts'
import { useReceivers } from '../../../../testing/receiver.ts'
import { type Database, openDatabase } from '../../../db/db.ts'
import { hearNews, type Listening } from '../../../db/hear-news.ts'
import { newLogger } from '../../../lib/logger.ts'
import { enableWebhook } from '../../webhooks/webhooks.ts'

const house = useHouse()
const newReceiver = useReceivers()
let elsewhere: Database
let listening: Listening
const heard: string[] = []

/** Another process, which would deliver: it hears what this one, which does not, leaves to be taken up. */
beforeAll(async () => {
  elsewhere = openDatabase(house.connection, () => {}, 2)
  listening = hearNews(
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
  const line = await newLine(house)
  const { id } = await line.listen(await newReceiver())
  await line.write()
  const due = `due ${line.workspace.id}`
  await vi.waitFor(() => expect(heard).toContain(due), 2000)
  heard.length = 0
  await enableWebhook(house.db, house.clock, id)
  await vi.waitFor(() => expect(heard).toContain(due), 2000)
})

test('what was told last is sent before a process ends', async () => {
  const visitor = openDatabase(house.connection, () => {}, 2)
  visitor.tell(house.url, 'due')
  await visitor.close()
  await vi.waitFor(() => expect(heard).toContain(`due ${house.url}`), 2000)
})
