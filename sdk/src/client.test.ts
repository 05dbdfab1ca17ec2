import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { useForms } from '../../server/testing/forms.ts'
import { useTestServer } from '../../server/testing/test-server.ts'
import { newWorkspace } from '../../server/testing/workspace.ts'
import { Parley } from './client.ts'
import type { Message } from './contract.ts'
import { version } from './version.ts'

const server = useTestServer()
const forms = useForms(server)
const { sending } = forms

const hello = { to: '16505550123', type: 'text', text: { body: 'hello' } } as const

test('the client reads me, webhooks, senders and templates', async () => {
  const { workspace, senderId } = await sending.newShop()
  const parley = new Parley({ key: workspace.secret, baseUrl: server.url })
  expect(await parley.me()).toMatchObject({ account_id: workspace.id, key: { id: workspace.key.id } })
  expect(await parley.webhooks.list()).toMatchObject({ object: 'list', data: [], total: 0 })
  const [sender] = await parley.senders.list().all()
  expect(sender?.id).toBe(senderId)
  expect(await parley.senders.get(senderId)).toEqual(sender)
  const { data } = await parley.templates.list({ name: 'greeting', language: 'en', status: 'APPROVED' }).page()
  const [template] = data
  expect(template).toMatchObject({ object: 'template', variables: [{ key: 'body.1' }] })
  expect(await parley.templates.get(template?.id ?? '')).toEqual(template)
  expect(await parley.templates.list({ name: 'another' })).toMatchObject({ data: [] })
})

test('a template message is sent and its status history can be read', async () => {
  const { workspace } = await sending.newShop()
  const { messages } = new Parley({ key: workspace.secret, baseUrl: server.url })
  const template = { name: 'greeting', language: 'en', variables: { 'body.1': 'Ana' } }
  const { id } = await messages.send({ to: '+16505550124', type: 'template', template, reference: 'order 1001' })
  await sending.drain()
  const message = await messages.get(id)
  expect(message).toMatchObject({ to: '16505550124', reference: 'order 1001', status: 'read' })
  expect(message.history.map(({ status }) => status)).toEqual(['queued', 'sent', 'delivered', 'read'])
  await expect(messages.send({ to: '1', type: 'template', template: {} })).rejects.toMatchObject({
    code: 'validation_failed',
    param: 'to',
    errors: expect.arrayContaining([expect.objectContaining({ param: 'to' })]),
  })
})

test('a list returns every item once, in both orders and with filters', async () => {
  const { workspace } = await sending.newShop()
  const { messages } = new Parley({ key: workspace.secret, baseUrl: server.url })
  const sent: Message[] = []
  for (let n = 0; n < 5; n++) sent.push(await messages.send({ ...hello, reference: `${n}` }))
  const seen: (string | null)[] = []
  for await (const { reference } of messages.list({ limit: 2 })) seen.push(reference)
  expect(seen).toEqual(['4', '3', '2', '1', '0'])
  expect(await messages.list({ limit: 2, order: 'asc' }).all()).toEqual(sent)
  for (const max of [0, 1, 3]) {
    expect(await messages.list({ limit: 2, order: 'asc' }).all({ max })).toEqual(sent.slice(0, max))
  }
  const pages: number[] = []
  for await (const { data } of messages.list({ limit: 2 }).pages()) pages.push(data.length)
  expect(pages).toEqual([2, 2, 1])
  const first = await messages.list({ limit: 2, order: 'asc' }).page()
  expect(first).toMatchObject({ total: 5, has_more: true })
  expect((await messages.list({ limit: 2, order: 'asc' }).page(first.next_cursor)).data).toEqual(sent.slice(2, 4))
  const later = new Date(server.clock.now().getTime() + 1000)
  expect(await messages.list({ created_after: later })).toMatchObject({ total: 0 })
  expect(await messages.list({ created_before: later, status: 'queued' })).toMatchObject({ total: 5 })
  expect(await messages.list({ reference: '3' })).toMatchObject({ total: 1, data: [{ reference: '3' }] })
})

test('a form submission can be listed and read, and its file downloaded unchanged', async () => {
  const shop = await forms.newShop()
  const phone = '16505550190'
  await shop.sendForm(phone, 'claim-1001')
  const bytes = randomBytes(100_000)
  // As in a JPEG. A file that begins with < is not served as an image.
  bytes[0] = 0xff
  const photo = { base64: bytes.toString('base64'), filename: 'carte d’été "1".jpg', mimeType: 'image/jpeg' }
  const submission = await shop.fillForm(phone, { values: { full_name: 'Ana' }, files: { photos: [photo] } })
  await forms.fetcher.drain()
  const { flowResponses } = new Parley({ key: shop.workspace.secret, baseUrl: server.url })
  const response = await flowResponses.get(submission.id)
  expect(response).toEqual({ ...submission, object: 'flow_response', content_removed_at: null })
  expect(await flowResponses.list({ from: phone, flow_id: shop.flowId }).all()).toEqual([response])
  expect(await flowResponses.list({ received_after: new Date(submission.received_at) }).all()).toEqual([])
  const file = await flowResponses.file(submission.id, response.files[0]?.index ?? -1)
  expect(file).toMatchObject({ name: photo.filename, type: 'image/jpeg', size: bytes.length })
  expect(bytes.equals(await file.bytes())).toBe(true)
  await expect(flowResponses.file(submission.id, 7)).rejects.toMatchObject({ code: 'not_found' })
})

test('a send whose response was lost is not sent twice', async () => {
  const { workspace } = await sending.newShop()
  let calls = 0
  const lossy: typeof fetch = async (url, init) => {
    const response = await fetch(url, init)
    if (++calls > 1) return response
    await response.arrayBuffer()
    throw new TypeError('the connection broke after the response was sent')
  }
  const { messages } = new Parley({ key: workspace.secret, baseUrl: server.url, fetch: lossy })
  const message = await messages.send({ ...hello, reference: 'once' })
  expect(calls).toBe(2)
  expect(await messages.list()).toMatchObject({ data: [message], total: 1 })
})

test('a request above the rate limit says how long to wait', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ rateLimitPerMin: 1 })
  const parley = new Parley({ key: secret, baseUrl: server.url, maxWaitMs: 100 })
  await parley.me()
  const error = await parley.me().catch((thrown) => thrown)
  expect(error).toMatchObject({ code: 'rate_limited', type: 'rate_limit_error', status: 429 })
  expect(error.requestId).toMatch(/^req_/)
  expect(error.retryAfter).toBeGreaterThan(0)
})

test('the version is the same as in package.json', async () => {
  const { default: manifest } = await import('../package.json', { with: { type: 'json' } })
  expect(version).toBe(manifest.version)
})

test('a batch of any size is sent in parts, with progress, and a repeated call sends nothing again', async () => {
  const { workspace } = await sending.newShop(1100)
  const { messages } = new Parley({ key: workspace.secret, baseUrl: server.url })
  const batch = Array.from({ length: 1101 }, (_, n) => ({ ...hello, to: n === 600 ? 'x' : String(16_505_550_000 + n) }))
  const progress: number[][] = []
  const send = () =>
    messages.sendBatch(batch, {
      idempotencyKey: 'campaign',
      onProgress: ({ done, total, accepted, rejected }) => progress.push([done, total, accepted, rejected]),
    })
  const results = await send()
  expect(progress).toEqual([
    [500, 1101, 500, 0],
    [1000, 1101, 999, 1],
    [1101, 1101, 1100, 1],
  ])
  expect(results.map(({ index }) => index)).toEqual(batch.map((_, n) => n))
  expect(results[600]).toMatchObject({ status: 400, error: { code: 'validation_failed', param: 'to' } })
  expect(results[1100]).toMatchObject({ status: 202, message: { to: '16505551100' } })
  expect((await send()).map(({ message }) => message?.id)).toEqual(results.map(({ message }) => message?.id))
  expect(await messages.sendBatch([])).toEqual([])
})

test('a part of a batch is smaller than the largest body', async () => {
  const { workspace } = await sending.newShop(600)
  const { messages } = new Parley({ key: workspace.secret, baseUrl: server.url })
  const long = { ...hello, text: { body: 'ü'.repeat(4_000) } }
  const results = await messages.sendBatch(Array.from({ length: 400 }, () => long))
  expect(results.filter(({ status }) => status === 202)).toHaveLength(400)
})
