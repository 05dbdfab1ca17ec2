import { beforeAll, expect, test } from 'vitest'
import { eventsOf } from '../../../testing/network-app.ts'
import { openTransaction } from '../../../testing/open-transaction.ts'
import { type TestShop, useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newUuid, withoutPrefix } from '../../lib/ids.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { type Fetcher, newFetcher } from '../files/fetcher.ts'
import { insertChunk } from '../files/fetching.sql.ts'
import { deleteExpiredFiles, expireFiles } from '../files/fetching.ts'
import { exportPerson } from './export.ts'

const server = useTestServer()
const sending = useSending(server)
let fetcher: Fetcher

beforeAll(() => {
  fetcher = newFetcher(sending.network.network, newLogger('silent'))
})

let people = 0

/** A picture from a new person, which is not fetched yet. */
async function newPicture(shop: TestShop) {
  const { control } = sending.network
  const number = String(16_505_590_000 + ++people)
  const picture = { base64: Buffer.from('picture').toString('base64'), mimeType: 'image/jpeg' }
  await control.phones.image(number, { to: shop.account.phoneNumber, ...picture })
  await control.idle()
  const event = (await eventsOf(server, shop.workspace.id)).at(-1)
  const messageId = withoutPrefix('msg', String(event?.data.message_id)) ?? ''
  return { number, messageId }
}

const chunksOf = (messageId: string) =>
  server.db.rows('select 1 from file_chunks c join flow_files f on f.id = c.file_id where f.message_id = $1', [
    messageId,
  ])

test('a part of a file that is written while its message is erased is deleted too', async () => {
  const shop = await sending.newShop()
  const { messageId } = await newPicture(shop)
  const lease = newUuid()
  const file = await server.db.first<{ id: string }>(
    `update flow_files set state = 'fetching', lease = $2, due_at = now() + interval '1 hour' where message_id = $1 returning id`,
    [messageId, lease],
  )
  const writing = await openTransaction(server.db, (tx) =>
    insertChunk(tx, { id: file?.id ?? '', lease }, 0, Buffer.from('picture')),
  )
  const erasing = server.db.transaction((tx) => expireFiles(tx, 'message_id', [messageId]))
  const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%file_name = %'`
  await until('the erasure waits for the file', async () => (await server.db.rows(waits)).length > 0)
  await writing.commit()
  expect(await erasing).toBe(1)
  expect(await chunksOf(messageId)).toEqual([])
})

test('a file that was removed, and whose bytes are not deleted yet, is not exported, and the export is complete', async () => {
  const shop = await sending.newShop()
  const { number, messageId } = await newPicture(shop)
  await fetcher.drain()
  const exported = async () => {
    let text = ''
    for await (const piece of exportPerson(server.db, server.clock, shop.workspace.id, { number })) text += piece
    return (JSON.parse(text) as { inbound_messages: { file: string | null }[] }).inbound_messages.map(
      ({ file }) => file,
    )
  }
  expect(await exported()).toEqual([Buffer.from('picture').toString('base64')])
  await server.db.transaction((tx) => expireFiles(tx, 'message_id', [messageId]))
  expect(await chunksOf(messageId)).toHaveLength(1)
  expect(await exported()).toEqual([null])
  const listed = await shop.workspace.call(`/v1/inbound_messages/msg_${messageId}/media`)
  expect(listed).toMatchObject({ status: 410, body: { error: { code: 'file_expired' } } })
  await deleteExpiredFiles(server.db)
  expect(await chunksOf(messageId)).toEqual([])
})
