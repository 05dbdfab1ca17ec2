import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { InboundMessage } from '@parley/contract/inbound'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import type { ApiResponse } from '../../../testing/call.ts'
import { expectCommonHeaders, expectRefusal } from '../../../testing/expect-error.ts'
import { digestOf, startFileHost } from '../../../testing/file-host.ts'
import { eventsOf, newApp, newSender, webhookOf } from '../../../testing/network-app.ts'
import { type TestShop, useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace, type TestWorkspace } from '../../../testing/workspace.ts'
import { newUuid } from '../../lib/ids.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { type Fetcher, newFetcher } from '../files/fetcher.ts'
import { deleteOldFiles } from '../files/fetching.ts'
import { fileStatesOf } from '../files/files.ts'
import { makeFittingDue } from '../files/quota.ts'

const server = useTestServer()
const sending = useSending(server)
let fetcher: Fetcher

beforeAll(() => {
  fetcher = newFetcher(sending.network.network, newLogger('silent'))
})

type Action = 'image' | 'video' | 'audio' | 'voice' | 'document' | 'sticker'

let people = 0
const newPhone = () => String(16_505_580_000 + ++people)

/** Sends a file from a phone to the shop, and returns the data of its event. */
async function receive(shop: TestShop, action: Action, input: Record<string, unknown>): Promise<InboundMessage> {
  const { control } = sending.network
  const before = (await received(shop.workspace)).length
  await control.phones[action](newPhone(), { to: shop.account.phoneNumber, ...input })
  await control.idle()
  const after = await received(shop.workspace)
  expect(after).toHaveLength(before + 1)
  return after.at(-1) as InboundMessage
}

const received = async (workspace: Pick<TestWorkspace, 'id'>): Promise<InboundMessage[]> =>
  (await eventsOf(server, workspace.id)).flatMap(({ type, data }) =>
    type === 'message.received' ? [data as unknown as InboundMessage] : [],
  )

const pathOf = (id: string) => `/v1/inbound_messages/${id}/media`

const get = (workspace: TestWorkspace, path: string, options: { method?: string; headers?: object } = {}) =>
  fetch(server.url + path, {
    method: options.method ?? 'GET',
    headers: { authorization: `Bearer ${workspace.secret}`, ...options.headers },
  })

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer())

const expectStillFetching = (response: ApiResponse) =>
  expectRefusal(response, {
    code: 'service_unavailable',
    message: 'This file is still being downloaded from WhatsApp. Try again later.',
    headers: { 'retry-after': '1' },
  })

const jpeg = (size: number) => Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), randomBytes(size - 3)])

test('a received picture is fetched and served as it was sent, with HEAD and ranges', async () => {
  const shop = await sending.newShop()
  const bytes = jpeg(700_000)
  const data = await receive(shop, 'image', { base64: bytes.toString('base64'), mimeType: 'image/jpeg', caption: 'hi' })
  expect(data.media).toEqual({
    id: expect.any(String),
    mime_type: 'image/jpeg',
    filename: null,
    caption: 'hi',
    sha256: createHash('sha256').update(bytes).digest('hex'),
    voice: false,
    url: `http://parley.test${pathOf(data.message_id)}`,
  })
  await fetcher.drain()
  for (const method of ['GET', 'HEAD']) {
    const response = await get(shop.workspace, pathOf(data.message_id), { method })
    expect(response.status).toBe(200)
    expectCommonHeaders(response)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'content-length': '700000',
      'content-disposition': `attachment; filename="image.jpg"; filename*=UTF-8''image.jpg`,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
    })
    expect((await bytesOf(response)).equals(method === 'HEAD' ? Buffer.alloc(0) : bytes)).toBe(true)
  }
  const part = await get(shop.workspace, pathOf(data.message_id), { headers: { range: 'bytes=262140-262150' } })
  expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 262140-262150/700000'])
  expect((await bytesOf(part)).equals(bytes.subarray(262_140, 262_151))).toBe(true)
  const outside = await shop.workspace.call(pathOf(data.message_id), { headers: { range: 'bytes=700000-' } })
  expectRefusal(outside, { code: 'range_not_satisfiable' })
})

test('the event does not wait for the file: until it is fetched, its URL responds with 503 and Retry-After', async () => {
  const shop = await sending.newShop()
  const data = await receive(shop, 'voice', { base64: Buffer.from('OggS…').toString('base64'), mimeType: 'audio/ogg' })
  expect(data).toMatchObject({ type: 'audio', media: { voice: true } })
  expectStillFetching(await shop.workspace.call(pathOf(data.message_id)))
  await fetcher.drain()
  expect(await (await get(shop.workspace, pathOf(data.message_id))).text()).toBe('OggS…')
})

test('a document has its own name, and a type that browsers run is served as application/octet-stream', async () => {
  const shop = await sending.newShop()
  const input = { base64: Buffer.from('<svg onload="alert(1)">').toString('base64'), filename: '../run me.svg' }
  const data = await receive(shop, 'document', { ...input, mimeType: 'image/svg+xml' })
  expect(data.media).toMatchObject({ filename: '../run me.svg' })
  await fetcher.drain()
  const response = await get(shop.workspace, pathOf(data.message_id))
  expect(response.headers.get('content-type')).toBe('application/octet-stream')
  expect(response.headers.get('content-disposition')).toContain('filename="run me.svg"')
})

test('a webhook that the network repeats stores and fetches its file once', async () => {
  const shop = await sending.newShop()
  const { control } = sending.network
  control.switches.set({ duplicateWebhooks: true })
  onTestFinished(() => void control.switches.set({ duplicateWebhooks: false }))
  await receive(shop, 'image', { base64: jpeg(10).toString('base64'), mimeType: 'image/jpeg' })
  await fetcher.drain()
  const files = await server.db.rows('select state, attempts from flow_files where workspace_id = $1', [
    shop.workspace.id,
  ])
  expect(files).toEqual([{ state: 'fetched', attempts: 1 }])
})

test('a file that the network no longer has is requested three times, then it is 410', async () => {
  const shop = await sending.newShop()
  const data = await receive(shop, 'sticker', { base64: jpeg(10).toString('base64'), mimeType: 'image/webp' })
  const deleted = await fetch(`${sending.network.simulator.url}/v25.0/${data.media?.id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${shop.account.token}` },
  })
  expect(deleted.status).toBe(200)
  for (let attempt = 0; attempt < 3; attempt++) {
    server.clock.forward({ seconds: 5 })
    await fetcher.drain()
  }
  const response = await shop.workspace.call(pathOf(data.message_id))
  expectRefusal(response, { code: 'file_expired', message: 'WhatsApp deleted this file.' })
})

test('a message without a file, an unknown one and one of another workspace are the same 404', async () => {
  const [ours, theirs] = [await sending.newShop(), await sending.newShop()]
  const picture = await receive(theirs, 'image', { base64: jpeg(10).toString('base64'), mimeType: 'image/jpeg' })
  await fetcher.drain()
  await sending.network.control.phones.say(newPhone(), { to: ours.account.phoneNumber, text: 'no file' })
  await sending.network.control.idle()
  const [text] = await received(ours.workspace)
  const sent = await ours.sendText(newPhone())
  for (const id of [picture.message_id, text?.message_id ?? '', sent.id, `msg_${newUuid()}`, 'msg_1', 'x']) {
    for (const headers of [{}, { range: 'bytes=99999-' }]) {
      expectRefusal(await ours.workspace.call(pathOf(id), { headers }), { code: 'not_found', message: 'Not found.' })
    }
  }
  expect((await get(theirs.workspace, pathOf(picture.message_id))).status).toBe(200)
  const { secret } = await theirs.workspace.newKey({ scopes: ['messages:read', 'messages:send'] })
  expect((await server.call(pathOf(picture.message_id), { key: secret })).status).toBe(403)
})

test('a received file beyond the quota of the workspace waits, and is fetched when there is space', async () => {
  const shop = await sending.newShop()
  const { workspace } = shop
  const small = newFetcher(sending.network.network, newLogger('silent'), { maxStoredBytes: 1_000_000 })
  const requested = vi.spyOn(sending.network.network.client, 'getMedia')
  onTestFinished(() => requested.mockRestore())
  const send = async () => {
    const data = await receive(shop, 'document', { base64: jpeg(600_000).toString('base64'), filename: 'a.pdf' })
    await small.drain()
    return data
  }
  const statusOf = async ({ message_id }: InboundMessage) => (await get(workspace, pathOf(message_id))).status
  const [first, second] = [await send(), await send()]
  expect(await statusOf(first)).toBe(200)
  expectRefusal(await workspace.call(pathOf(second.message_id)), {
    code: 'service_unavailable',
    message: expect.stringContaining('storage quota'),
    details: { reason: 'quota_exceeded' },
    headers: { 'retry-after': '3600' },
  })
  const uuid = second.message_id.slice('msg_'.length)
  const states = await fileStatesOf(server.db.within(workspace.id), workspace.id, [uuid])
  expect(states.get(uuid)).toMatchObject({ kind: 'waiting', attempts: 0, last_error: 'quota_exceeded' })
  expect(await server.db.rows('select bytes from file_chunks where workspace_id = $1', [workspace.id])).toHaveLength(3)

  // Without space it is not requested again.
  await server.passDays(1)
  await makeFittingDue(server.db, 1_000_000, server.clock.now())
  await small.drain()
  expect(requested).toHaveBeenCalledTimes(2)

  // A higher quota, or fewer files.
  await makeFittingDue(server.db, 1_300_000, server.clock.now())
  await small.drain()
  expect(requested).toHaveBeenCalledTimes(3)
  await deleteOldFiles(server.db, server.clock.now(), 0.5)
  await makeFittingDue(server.db, 1_000_000, server.clock.now())
  await small.drain()
  expect([await statusOf(first), await statusOf(second)]).toEqual([410, 200])

  const lost = await send()
  await server.passDays(7)
  await small.drain()
  expectRefusal(await workspace.call(pathOf(lost.message_id)), {
    code: 'file_expired',
    message: expect.stringContaining('storage quota'),
  })
})

test('the quota holds for concurrent downloads, and for files whose size is not known', async () => {
  const shop = await sending.newShop()
  const small = [1, 2].map(() =>
    newFetcher(sending.network.network, newLogger('silent'), { maxStoredBytes: 1_000_000 }),
  )
  const { client } = sending.network.network
  const getMedia = client.getMedia.bind(client)
  const unknown = vi.spyOn(client, 'getMedia').mockImplementation(async (...input) => {
    const found = await getMedia(...input)
    return found.kind === 'ok' ? { ...found, value: { ...found.value, fileSize: null } } : found
  })
  onTestFinished(() => unknown.mockRestore())
  for (let n = 0; n < 6; n++) await receive(shop, 'image', { base64: jpeg(300_000).toString('base64') })
  await Promise.all(small.map((fetcher) => fetcher.drain()))
  const rows = await server.db.rows<{ state: string }>('select state from flow_files where workspace_id = $1', [
    shop.workspace.id,
  ])
  const fetched = rows.filter(({ state }) => state === 'fetched').length
  expect([fetched > 0, fetched <= 3, rows.every(({ state }) => state !== 'gone')]).toEqual([true, true, true])
})

test('after the retention period the file is deleted and the message stays', async () => {
  const shop = await sending.newShop()
  const data = await receive(shop, 'image', { base64: jpeg(20).toString('base64'), mimeType: 'image/jpeg' })
  await fetcher.drain()
  await server.passDays(8)
  await deleteOldFiles(server.db, server.clock.now(), 7)
  const response = await shop.workspace.call(pathOf(data.message_id))
  expectRefusal(response, { code: 'file_expired', message: 'This file was deleted after its retention period.' })
  expect(await server.db.rows('select 1 from file_chunks where workspace_id = $1', [shop.workspace.id])).toEqual([])
})

/** A workspace whose network is a file host, and a picture that the host has. */
async function withFileHost() {
  const host = await startFileHost()
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  await server.db.change('update apps set graph_url = $2 where id = $1', [app.id, host.url])
  const { phoneNumberId } = await newSender(server, workspace.id, app.id, String(Math.trunc(Math.random() * 1e15)))
  return {
    host,
    workspace,
    async receivePicture(id: string, sha256?: string): Promise<string> {
      const image = { id, mime_type: 'image/png', ...(sha256 !== undefined && { sha256 }) }
      const message = { from: '16505550123', id: `wamid.${newUuid()}`, timestamp: '1786000000', type: 'image', image }
      expect(await app.post(webhookOf(phoneNumberId, [message]))).toBe(200)
      const row = await server.db.first<{ id: string }>(
        'select id from inbound_messages where workspace_id = $1 order by recorded_at desc, id desc limit 1',
        [workspace.id],
      )
      return `msg_${row?.id}`
    },
  }
}

test('a file with another hash than the webhook announced is never served', async () => {
  const { host, workspace, receivePicture } = await withFileHost()
  host.files.set('right', { size: 300_000 }).set('wrong', { size: 300_000 })
  const [right, wrong] = [await receivePicture('right', digestOf(300_000)), await receivePicture('wrong', digestOf(5))]
  for (let attempt = 0; attempt < 3; attempt++) {
    server.clock.forward({ seconds: 5 })
    await fetcher.drain()
  }
  expect((await get(workspace, pathOf(right))).status).toBe(200)
  const response = await workspace.call(pathOf(wrong))
  expectRefusal(response, { code: 'file_expired', message: expect.stringContaining('does not match its checksum') })
  expect(host.requests.get('wrong')).toBe(3)
})

test('the access token goes to the hosts of the network only, whatever URL or redirect the network names', async () => {
  const { host, workspace, receivePicture } = await withFileHost()
  let calls = 0
  const stranger = createServer((_request, response) => {
    calls++
    response.writeHead(200).end('taken')
  })
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void stranger.close())
  const elsewhere = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}/bytes/f`
  host.files.set('named', { size: 5, url: elsewhere }).set('redirected', { size: 5, redirectTo: elsewhere })
  const ids = [await receivePicture('named'), await receivePicture('redirected')]
  await fetcher.drain()
  for (const id of ids) expectStillFetching(await workspace.call(pathOf(id)))
  expect([calls, host.requests.get('redirected')]).toEqual([0, 1])
})
