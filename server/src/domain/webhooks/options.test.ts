import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { newConversations, textsAt } from '../../../testing/conversations.ts'
import { useDeliveryWorker } from '../../../testing/deliveries.ts'
import { useReceivers } from '../../../testing/receiver.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { publish } from '../deliveries/engine/publish/publish.ts'
import { deleteOldLeftOut, sumLeftOut } from '../deliveries/reading/left-out.ts'
import { headerErrors } from './headers.ts'

const server = useTestServer()
const deliveries = useDeliveryWorker(server, { deadlineMs: 10_000 })
const newReceiver = useReceivers()
const drain = () => deliveries.worker.drain()

const post = (body: unknown) => ({ method: 'POST', body })
const patch = (body: unknown) => ({ method: 'PATCH', body })

async function setUp() {
  const conversations = await newConversations(server, 2)
  const { id: workspaceId } = conversations.workspace
  const admin = await signedIn(server, { workspaceId, role: 'admin' })
  const receiver = await newReceiver()
  const input = { name: 'Shop', url: receiver.url, events: ['message.received', 'message.read'] }
  const call = (path: string, options?: Parameters<typeof admin.call>[1]) =>
    admin.call(`/w/${workspaceId}${path}`, options)
  return { ...conversations, workspaceId, receiver, input, call }
}

test('an endpoint with a filter gets only events of its senders, and those without a sender; the rest is counted', async () => {
  const { senders, writeTo, workspaceId, workspace, receiver, input, call } = await setUp()
  const { webhook } = (await call('/webhooks', post({ ...input, senders: [senders[0]] }))).body
  const unfiltered = await newReceiver()
  await call('/webhooks', post({ ...input, url: unfiltered.url }))
  await writeTo(0, ['1', 'a'], ['2', 'b'])
  await writeTo(1, ['1', 'c'], ['2', 'd'])
  const status = { workspaceId, type: 'message.read' as const, data: { to: '3', status: 'read' } }
  const ofOther = { ...status, senderId: senders[1]?.slice(4) ?? '' }
  await publish(server.db, server.clock.now(), [status, ofOther])
  await drain()
  expect(textsAt(receiver).sort()).toEqual(['1 a', '2 b', '3 read'])
  expect(unfiltered.received).toHaveLength(6)
  const shown = async () => (await call(`/webhooks/${webhook.id}`)).body
  expect(await shown()).toMatchObject({ senders: [senders[0]], left_out: 3, waiting: { count: 0 } })
  await sumLeftOut(server.db)
  await sumLeftOut(server.db)
  expect(await shown()).toMatchObject({ left_out: 3 })
  const rows = () => server.db.rows('select count from left_out_events where webhook_id = $1', [webhook.id.slice(4)])
  expect(await rows()).toEqual([{ count: 3 }])
  await writeTo(1, ['1', 'e'])
  expect(await shown()).toMatchObject({ left_out: 4 })
  const listed = await workspace.call('/v1/webhook')
  expect((listed.body as { data: object[] }).data).toMatchObject([
    { senders: null, ordering: 'none', headers: [] },
    { id: webhook.id, senders: [senders[0]] },
  ])
  await deleteOldLeftOut(server.db, new Date(server.clock.now().getTime() + 3 * 86_400_000))
  expect(await rows()).toEqual([])
})

test('a filter can be changed and removed, from the next event on', async () => {
  const { senders, writeTo, receiver, input, call } = await setUp()
  const { webhook } = (await call('/webhooks', post({ ...input, senders: [senders[0]] }))).body
  expect((await call(`/webhooks/${webhook.id}`, patch({ senders: [senders[1]] }))).body.senders).toEqual([senders[1]])
  await writeTo(0, ['1', 'a'])
  await writeTo(1, ['1', 'b'])
  expect((await call(`/webhooks/${webhook.id}`, patch({ senders: null }))).body.senders).toBeNull()
  await writeTo(0, ['1', 'c'])
  await drain()
  expect(textsAt(receiver)).toEqual(['1 b', '1 c'])
})

test('a filter with a sender of another workspace, or without senders, is refused', async () => {
  const { input, call } = await setUp()
  const other = await newConversations(server)
  const errorOf = async (senders: unknown) => (await call('/webhooks', post({ ...input, senders }))).body.error
  expect(await errorOf([other.senders[0]])).toMatchObject({ param: 'senders', errors: [{ code: 'not_found' }] })
  expect(await errorOf([])).toMatchObject({ param: 'senders' })
  expect(await errorOf(['snd_1'])).toMatchObject({ param: 'senders.0' })
})

test('headers are sent with every attempt, from the next one on after a change, and their values are shown nowhere', async () => {
  const { write, workspace, workspaceId, receiver, input, call } = await setUp()
  const headers = [
    { name: 'Authorization', value: 'Bearer value-one' },
    { name: 'X-Team', value: ' blue, value-two ' },
  ]
  const made = await call('/webhooks', post({ ...input, headers }))
  const { id } = made.body.webhook
  expect(made.body.webhook.headers).toEqual(['authorization', 'x-team'])
  receiver.behave(500)
  await write(['1', 'a'])
  await drain()
  expect(receiver.received).toHaveLength(2)
  for (const { headers: sent } of receiver.received) {
    expect(sent).toMatchObject({ authorization: 'Bearer value-one', 'x-team': 'blue, value-two' })
    expect(sent['service-event']).toBe('message.received')
  }
  const kept = [
    { name: 'authorization', value: null },
    { name: 'X-New', value: 'value-three' },
  ]
  const changed = await call(`/webhooks/${id}`, patch({ headers: kept }))
  expect(changed.body.headers).toEqual(['authorization', 'x-new'])
  // Other changes leave the headers as they are.
  await call(`/webhooks/${id}`, patch({ name: 'Till' }))
  receiver.behave(200)
  server.clock.forward({ seconds: 10 })
  await drain()
  const last = receiver.received.at(-1)?.headers
  expect(last).toMatchObject({ authorization: 'Bearer value-one', 'x-new': 'value-three' })
  expect(last).not.toHaveProperty('x-team')
  expect(
    (await call(`/webhooks/${id}`, patch({ headers: [{ name: 'X-Lost', value: null }] }))).body.error,
  ).toMatchObject({
    param: 'headers.0.value',
  })
  const seen = [
    made.body,
    changed.body,
    (await call('/webhooks')).body,
    (await workspace.call('/v1/webhook')).body,
    await server.db.rows('select * from delivery_attempts where workspace_id = $1', [workspaceId]),
    await server.db.rows('select * from webhooks where workspace_id = $1', [workspaceId]),
    await server.db.rows('select * from audit_entries where workspace_id = $1', [workspaceId]),
  ]
  expect(JSON.stringify(seen)).not.toMatch(/value-(one|two|three)/)
  expect(JSON.stringify(seen.at(-1))).toContain('x-new')
  await call(`/webhooks/${id}`, patch({ headers: [] }))
  await write(['1', 'b'])
  await drain()
  expect(receiver.received.at(-1)?.headers).not.toHaveProperty('authorization')
})

test('deleting an endpoint removes its headers and a staged secret', async () => {
  const { input, call } = await setUp()
  const made = await call('/webhooks', post({ ...input, headers: [{ name: 'Authorization', value: 'Bearer one' }] }))
  const { id } = made.body.webhook
  await call(`/webhooks/${id}/rotate`, post({ staged: true }))
  const stored = () =>
    server.db.first('select staged_secret_sealed, headers_sealed, header_names from webhooks where id = $1', [
      id.slice(4),
    ])
  const before = await stored()
  expect(Object.values(before ?? {})).not.toContain(null)
  await call(`/webhooks/${id}`, { method: 'DELETE' })
  expect(await stored()).toEqual({ staged_secret_sealed: null, headers_sealed: null, header_names: null })
})

const refused = [
  ...['Service-Signature', 'service-anything', 'webhook-id', 'Webhook-Timestamp', 'User-Agent', 'Accept-Encoding'],
  ...['Content-Type', 'content-length', 'Content-Encoding', 'Host', 'Connection', 'Keep-Alive', 'Transfer-Encoding'],
  ...['TE', 'Trailer', 'Upgrade', 'Expect', 'Proxy-Authorization', 'HTTP2-Settings', 'Sec-Fetch-Site', 'Date'],
  ...['Forwarded', 'X-Forwarded-For', 'X-Real-IP', 'Metadata-Flavor', 'X-aws-ec2-metadata-token', 'Metadata'],
  ...['X-HTTP-Method-Override', '', 'with space', 'colon:', 'ü', 'line\nbreak', 'x'.repeat(101)],
]

test.each(refused)('the header %j is refused', (name) => {
  const errors = headerErrors([{ name: name.toLowerCase(), value: 'x' }], [])
  expect(errors).toMatchObject([{ param: 'headers.0.name' }])
})

test.each(['', 'line\nbreak', 'a\r\nx-injected: 1', '\u0000', 'ü', 'x'.repeat(2_001)])(
  'the header value %j is refused',
  (value) => expect(headerErrors([{ name: 'x-a', value }], [])).toMatchObject([{ param: 'headers.0.value' }]),
)

test('more than ten headers, and the same header twice, are refused; ten are sent', async () => {
  const { write, receiver, input, call } = await setUp()
  const many = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `X-Header-${n}`, value: `${n}` }))
  expect((await call('/webhooks', post({ ...input, headers: many(11) }))).body.error).toMatchObject({
    param: 'headers',
    errors: [{ code: 'too_many' }],
  })
  const twice = [...many(2), { name: 'x-header-1', value: 'again' }]
  expect((await call('/webhooks', post({ ...input, headers: twice }))).body.error.param).toBe('headers.2.name')
  expect((await call('/webhooks', post({ ...input, headers: many(10) }))).status).toBe(201)
  await write(['1', 'a'])
  await drain()
  expect(receiver.received[0]?.headers).toMatchObject({ 'x-header-0': '0', 'x-header-9': '9' })
})

test('an order that does not exist is refused', async () => {
  const { input, call } = await setUp()
  expect((await call('/webhooks', post({ ...input, ordering: 'sender' }))).body.error.param).toBe('ordering')
})

test('a URL is refused if it is too long as it is stored, so a stored one can always be saved again', async () => {
  const { input, call } = await setUp()
  const refused = await call('/webhooks', post({ ...input, url: `${input.url}/${'ü'.repeat(1_000)}` }))
  expect(refused).toMatchObject({ status: 400, body: { error: { param: 'url' } } })
  const created = await call('/webhooks', post({ ...input, url: `${input.url}/${'ü'.repeat(300)}` }))
  const { webhook } = created.body
  expect((await call(`/webhooks/${webhook.id}`, patch({ name: 'renamed' }))).body).toMatchObject({ name: 'renamed' })
})
