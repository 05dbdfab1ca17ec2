import { randomBytes } from 'node:crypto'
import type { Media } from '@parley/contract/media'
import type { Message } from '@parley/contract/message'
import { expect, test } from 'vitest'
import { useReceivers } from '../../../../testing/receiver.ts'
import { type TestShop, useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { type UploadedPart, upload } from '../../../../testing/uploads.ts'
import { newUuid } from '../../../lib/ids.ts'
import { syncConnection } from '../../connections/sync.ts'
import { deleteOldFiles } from '../../files/fetching.ts'

const server = useTestServer()
const sending = useSending(server)
const newReceiver = useReceivers()

let people = 0
const newPhone = () => String(16_505_590_000 + ++people)

async function uploaded(shop: TestShop, bytes: Buffer, part: UploadedPart = {}): Promise<Media> {
  const { status, body } = await upload({ url: server.url, secret: shop.workspace.secret }, bytes, part)
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}

/** How many files the network got for the numbers of this account. */
function uploadsTo({ account }: TestShop): number {
  const { control } = sending.network
  const numbers = control.numbers.list().filter(({ wabaId }) => wabaId === account.wabaId)
  const calls = control.log.list({ limit: 1_000_000 })
  const isUpload = (url: string) => numbers.some(({ id }) => url.endsWith(`/${id}/media`))
  return calls.filter((line) => line.kind === 'call' && line.method === 'POST' && isUpload(line.url)).length
}

const accepted = async (shop: TestShop, body: object): Promise<Message> => {
  const { status, body: message } = await shop.send(body)
  expect(status, JSON.stringify(message)).toBe(202)
  return message as Message
}

/** The network's ID of the file that it sent to a phone. */
const networkIdAt = (shop: TestShop, phone: string): string | undefined =>
  (shop.taken(phone)[0]?.content as { id?: string } | undefined)?.id

/** The bytes of the file that the network sent to a phone. */
async function bytesAt(shop: TestShop, phone: string, kind: string): Promise<Buffer> {
  const id = networkIdAt(shop, phone)
  expect(id, kind).toMatch(/^\d+$/)
  const response = await fetch(`${sending.network.simulator.url}/control/media/${id}`)
  return Buffer.from(await response.arrayBuffer())
}

test('an uploaded file is sent as every kind of message that takes its type, with the bytes that were uploaded', async () => {
  const shop = await sending.newShop()
  const kinds: [kind: string, mimeType: string, size: number][] = [
    ['image', 'image/jpeg', 300_000],
    ['video', 'video/mp4', 600_001],
    ['audio', 'audio/ogg', 10],
    ['document', 'application/pdf', 1],
    ['sticker', 'image/webp', 99],
  ]
  for (const [kind, mimeType, size] of kinds) {
    const bytes = randomBytes(size)
    const { id } = await uploaded(shop, bytes, { mimeType, fileName: 'fïle "1".bin' })
    const to = newPhone()
    const message = await accepted(shop, { to, type: kind, [kind]: { id } })
    await until(`the ${kind} is read`, async () => {
      await sending.drain()
      // If the upload takes long, the message is due again in two seconds.
      server.clock.forward({ seconds: 2 })
      return (await shop.look(message.id)).status === 'read'
    })
    expect((await bytesAt(shop, to, kind)).equals(bytes), kind).toBe(true)
  }
})

test('a file is uploaded to the network once for a number, however many messages and processes send it', async () => {
  const shop = await sending.newShop()
  const { id } = await uploaded(shop, randomBytes(50_000))
  const messages = await Promise.all(
    Array.from({ length: 12 }, () => accepted(shop, { to: newPhone(), type: 'image', image: { id } })),
  )
  const other = sending.newOutbox()
  await Promise.all([sending.outbox.drain(), other.drain()])
  // The rest is above the pace of the number.
  server.clock.forward({ seconds: 5 })
  await Promise.all([sending.outbox.drain(), other.drain()])
  await sending.drain()
  for (const message of messages) expect((await shop.look(message.id)).status).toBe('read')
  expect(uploadsTo(shop)).toBe(1)
  await accepted(shop, { to: newPhone(), type: 'image', image: { id } })
  await sending.drain()
  expect(uploadsTo(shop)).toBe(1)
})

test('another number of the workspace gets its own upload', async () => {
  const shop = await sending.newShop()
  const { control, network } = sending.network
  const phoneNumber = String(15_552_000_000 + Math.trunc(Math.random() * 1e6))
  control.numbers.create({ wabaId: shop.account.wabaId, phoneNumber, verifiedName: 'Second' })
  await syncConnection(network, shop.connection.id)
  const { body } = await shop.workspace.call('/v1/senders')
  const { id } = await uploaded(shop, randomBytes(100))
  for (const sender of (body as { data: { id: string }[] }).data) {
    await accepted(shop, { sender_id: sender.id, to: newPhone(), type: 'image', image: { id } })
  }
  await sending.drain()
  expect(uploadsTo(shop)).toBe(2)
})

test('if the network no longer has the file, it is uploaded again and the message is sent once', async () => {
  const shop = await sending.newShop()
  const bytes = randomBytes(1000)
  const { id } = await uploaded(shop, bytes)
  const first = newPhone()
  await accepted(shop, { to: first, type: 'image', image: { id } })
  await sending.drain()
  const networkId = networkIdAt(shop, first)
  const deleted = await fetch(`${sending.network.simulator.url}/v25.0/${networkId}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${shop.account.token}` },
  })
  expect(deleted.status).toBe(200)
  const to = newPhone()
  const message = await accepted(shop, { to, type: 'image', image: { id } })
  await sending.drain()
  expect((await shop.look(message.id)).status).toBe('read')
  expect(shop.taken(to)).toHaveLength(1)
  expect((await bytesAt(shop, to, 'image')).equals(bytes)).toBe(true)
  expect(uploadsTo(shop)).toBe(2)
})

test('the header of an interactive message may name an uploaded file', async () => {
  const shop = await sending.newShop()
  const { id } = await uploaded(shop, randomBytes(100), { mimeType: 'video/mp4' })
  const to = newPhone()
  const interactive = {
    type: 'button',
    header: { type: 'video', video: { id } },
    body: { text: 'Which one?' },
    action: { buttons: [{ type: 'reply', reply: { id: 'med_not_a_file', title: 'This' } }] },
  }
  const message = await accepted(shop, { to, type: 'interactive', interactive })
  await sending.drain()
  expect((await shop.look(message.id)).status).toBe('read')
  const [taken] = shop.taken(to)
  expect(JSON.stringify(taken?.content)).toMatch(/"video":\{"id":"\d+"/)
  expect(JSON.stringify(taken?.content)).toContain('med_not_a_file')
})

test('a template variable may name an uploaded file', async () => {
  const shop = await sending.newShop()
  shop.account.addTemplate({
    name: 'picture',
    components: [
      { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['https://example.com/a.png'] } },
      { type: 'BODY', text: 'Hello.' },
    ],
  })
  await syncConnection(sending.network.network, shop.connection.id)
  const image = await uploaded(shop, randomBytes(100))
  const video = await uploaded(shop, randomBytes(100), { mimeType: 'video/mp4' })
  const request = (id: string) => ({
    to: newPhone(),
    type: 'template',
    template: { name: 'picture', language: 'en', variables: { 'header.image': { id } } },
  })
  const message = await accepted(shop, request(image.id))
  await sending.drain()
  expect((await shop.look(message.id)).status).toBe('read')
  const { status, body } = await shop.send(request(video.id))
  const param = 'template.variables.header.image.id'
  expect([status, body]).toMatchObject([400, { error: { param, errors: [{ param, code: 'unsupported_file' }] } }])
})

test('a file of the wrong kind, too large, unknown or of another workspace is 400, and nothing is spent', async () => {
  const [shop, other] = [await sending.newShop(), await sending.newShop()]
  const video = await uploaded(shop, randomBytes(10), { mimeType: 'video/mp4' })
  const large = await uploaded(shop, Buffer.alloc(5 * 1024 * 1024 + 1))
  const theirs = await uploaded(other, randomBytes(10))
  const wrong: [id: string, code: string, message: string][] = [
    [
      video.id,
      'unsupported_file',
      'The file has the type video/mp4. For image, WhatsApp accepts image/jpeg, image/png.',
    ],
    [large.id, 'unsupported_file', 'The file has 5242881 bytes. For image, WhatsApp accepts at most 5 MB.'],
    [theirs.id, 'not_found', 'File not found. Upload it with POST /v1/media.'],
    [`med_${newUuid()}`, 'not_found', 'File not found. Upload it with POST /v1/media.'],
    ['med_1', 'not_found', 'File not found. Upload it with POST /v1/media.'],
  ]
  for (const [id, code, message] of wrong) {
    const { status, body } = await shop.send({ to: newPhone(), type: 'image', image: { id } })
    const error = { code: 'validation_failed', param: 'image.id', errors: [{ param: 'image.id', code, message }] }
    expect([status, body], id).toMatchObject([400, { error }])
  }
  const spent = await server.db.first('select balance from credit_balances where workspace_id = $1', [
    shop.workspace.id,
  ])
  expect(spent).toEqual({ balance: 100 })
})

test('an expired file is 400, and a message that waited too long for its file fails and is refunded', async () => {
  const shop = await sending.newShop()
  const { id } = await uploaded(shop, randomBytes(10))
  await server.passDays(29)
  const message = await accepted(shop, { to: newPhone(), type: 'image', image: { id } })
  // As if it had been deleted: it is kept for as long as a message may wait.
  await server.db.change(`update flow_files set expires_at = expires_at - interval '5 days' where workspace_id = $1`, [
    shop.workspace.id,
  ])
  await deleteOldFiles(server.db, server.clock.now(), 365)
  await sending.drain()
  expect(await shop.look(message.id)).toMatchObject({ status: 'failed', error: { code: 'file_expired' } })
  const balance = await server.db.first('select balance from credit_balances where workspace_id = $1', [
    shop.workspace.id,
  ])
  expect(balance).toEqual({ balance: 100 })
  const { status, body } = await shop.send({ to: newPhone(), type: 'image', image: { id } })
  expect([status, body]).toMatchObject([400, { error: { errors: [{ param: 'image.id', code: 'expired' }] } }])
})

test('a file that the network refuses makes the message fail with the network’s error', async () => {
  const shop = await sending.newShop()
  const { id } = await uploaded(shop, randomBytes(10), { mimeType: 'application/zip' })
  const message = await accepted(shop, { to: newPhone(), type: 'document', document: { id } })
  await sending.drain()
  const { status, error } = await shop.look(message.id)
  expect([status, error?.code, JSON.stringify(error)]).toEqual([
    'failed',
    100,
    expect.stringContaining('application/zip'),
  ])
})

/** Sends the calls of the shop's app to another server. Returns how to undo it. */
async function setGraphUrl({ connection: { appId } }: TestShop, url: string): Promise<() => Promise<number>> {
  const before = await server.db.first<{ url: string }>('select graph_url as url from apps where id = $1', [appId])
  const set = (to: string | undefined) => server.db.change('update apps set graph_url = $2 where id = $1', [appId, to])
  await set(url)
  return () => set(before?.url)
}

test('while the network does not take files, the message is retried, and sent when it does', async () => {
  const shop = await sending.newShop()
  const { control } = sending.network
  const { id } = await uploaded(shop, randomBytes(10))
  const restoreUrl = await setGraphUrl(shop, 'http://127.0.0.1:9')
  const message = await accepted(shop, { to: newPhone(), type: 'image', image: { id } })
  await sending.drain()
  expect((await shop.look(message.id)).status).toBe('queued')
  await restoreUrl()
  server.clock.forward({ minutes: 10 })
  await sending.drain()
  await control.idle()
  expect((await shop.look(message.id)).status).toBe('read')
})

test('a message does not wait for a long upload, and is sent later', async () => {
  const shop = await sending.newShop()
  const { id } = await uploaded(shop, randomBytes(10))
  const slow = await newReceiver()
  const hanging: { destroy(): void }[] = []
  slow.behave((response) => void hanging.push(response))
  const restoreUrl = await setGraphUrl(shop, slow.url)
  const message = await accepted(shop, { to: newPhone(), type: 'image', image: { id } })
  await sending.drain()
  expect([(await shop.look(message.id)).status, hanging.length]).toEqual(['queued', 1])
  await restoreUrl()
  for (const response of hanging) response.destroy()
  await until('the message is read', async () => {
    server.clock.forward({ seconds: 2 })
    await sending.drain()
    return (await shop.look(message.id)).status === 'read'
  })
})

test('if the process that uploads a file dies, another one uploads it when the lease has ended', async () => {
  const shop = await sending.newShop()
  const { id } = await uploaded(shop, randomBytes(10))
  const to = newPhone()
  const message = await accepted(shop, { to, type: 'image', image: { id } })
  const now = server.clock.now()
  await server.db.change(
    `insert into network_media (file_id, sender_id, workspace_id, lease, lease_until) values ($1, $2, $3, $4, $5)`,
    [
      id.slice('med_'.length),
      shop.senderId.slice('snd_'.length),
      shop.workspace.id,
      newUuid(),
      new Date(now.getTime() + 30_000),
    ],
  )
  await sending.drain()
  expect([(await shop.look(message.id)).status, uploadsTo(shop)]).toEqual(['queued', 0])
  server.clock.forward({ seconds: 31 })
  await sending.drain()
  expect([(await shop.look(message.id)).status, uploadsTo(shop)]).toEqual(['read', 1])
  expect(shop.taken(to)).toHaveLength(1)
})
