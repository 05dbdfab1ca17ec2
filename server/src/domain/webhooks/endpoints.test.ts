import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { newLine, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { useReceivers } from '../../../testing/receiver.ts'
import { useTestServer } from '../../../testing/test-server.ts'

const server = useTestServer()
const deliveries = useDeliveryWorker(server)
const newReceiver = useReceivers()
const drain = () => deliveries.worker.drain()

async function setUp() {
  const line = await newLine(server)
  const workspaceId = line.workspace.id
  const admin = await signedIn(server, { workspaceId, role: 'admin' })
  const at = (path: string) => `/w/${workspaceId}${path}`
  const get = async (path: string) => (await admin.call(at(path))).body
  return { line, workspaceId, admin, at, get }
}

test('failing webhooks are listed first, then disabled by failures, enabled, and disabled by a person', async () => {
  const { line, admin, at, get } = await setUp()
  const [good, bad, worst, off] = await Promise.all([1, 2, 3, 4].map(() => newReceiver()))
  if (!good || !bad || !worst || !off) throw new Error('a receiver is missing')
  // Newest first without a problem: the last one that was created would be the first.
  const failing = await line.listen(bad)
  const disabled = await line.listen(worst)
  const enabled = await line.listen(good)
  const byPerson = await line.listen(off)
  worst.behave(503)
  await line.write(25)
  await drain()
  for (let attempt = 0; attempt < 20; attempt++) {
    server.clock.forward({ seconds: 10 })
    await drain()
  }
  bad.behave(404)
  await line.write(5)
  await drain()
  const reason = { method: 'POST', body: { reason: 'moving servers' } }
  await admin.call(at(`/webhooks/${byPerson.id}/disable`), reason)
  const { data } = await get('/webhooks')
  expect(data.map(({ id }: { id: string }) => id)).toEqual([failing.id, disabled.id, enabled.id, byPerson.id])
  const now = server.clock.now().toISOString()
  expect(data).toMatchObject([
    {
      state: 'failing',
      disabled_at: null,
      disabled_by_failures: false,
      last_failure: {
        title: 'The endpoint returned 404.',
        remedy: expect.stringContaining('path'),
        event_id: bad.received.at(-1)?.id,
      },
    },
    {
      state: 'disabled',
      disabled_by_failures: true,
      disabled_reason: expect.stringMatching(/^20 attempts in a row have failed since .* returned status 503\.$/),
      disabled_at: expect.any(String),
      last_failure: { title: 'The endpoint returned 503.' },
    },
    { state: 'enabled', last_failure: null, disabled_by_failures: false },
    { state: 'disabled', disabled_by_failures: false, disabled_reason: 'moving servers', disabled_at: now },
  ])
  const { hours, attempts, succeeded } = data[0].recent
  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0)
  expect([hours.succeeded.length, hours.failed.length]).toEqual([24, 24])
  expect([sum(hours.succeeded), sum(hours.failed)]).toEqual([succeeded, attempts - succeeded])
  expect([succeeded, attempts]).toEqual([25, bad.received.length])
})

test('the events of a webhook are those that came, whether it is subscribed or not', async () => {
  const { line, workspaceId, admin, at, get } = await setUp()
  const { id } = await line.listen(await newReceiver(), ['message.read', 'flow.completed', 'network.update'])
  await line.write(3)
  const first = server.clock.now()
  const event = (type: string, sender: string | null, days = 0) =>
    server.db.change(
      `insert into events (id, workspace_id, type, body, created_at, sender_id)
       values (gen_random_uuid(), $1, $2, '\\x7b7d', $3, $4)`,
      [workspaceId, type, new Date(first.getTime() - days * 86_400_000), sender],
    )
  const [{ id: sender } = { id: '' }] = await server.db.rows<{ id: string }>(
    'select id from senders where workspace_id = $1',
    [workspaceId],
  )
  await server.db.rows(`select ensure_days('events', $1::date, 3)`, [new Date(first.getTime() - 2 * 86_400_000)])
  const otherSender = '0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d'
  await event('flow.completed', sender)
  await event('flow.completed', otherSender, 1)
  await event('message.read', null, 2)
  await event('webhook.test', null)
  const of = (body: { data: { type: string }[] }, type: string) => body.data.find((each) => each.type === type)
  const body = await get(`/webhooks/${id}/events`)
  expect(body.data).toHaveLength(15)
  expect(body.since).toBe(new Date(first.getTime() - 7 * 86_400_000).toISOString())
  const last = first.toISOString()
  expect(of(body, 'message.received')).toEqual({
    ...{ type: 'message.received', subscribed: false },
    ...{ events: { count: 3, more: false }, last_at: last },
  })
  expect(of(body, 'flow.completed')).toMatchObject({
    subscribed: true,
    events: { count: 2, more: false },
    last_at: last,
  })
  expect(of(body, 'message.read')).toMatchObject({ subscribed: true, events: { count: 1, more: false } })
  expect(of(body, 'network.update')).toMatchObject({
    subscribed: true,
    events: { count: 0, more: false },
    last_at: null,
  })
  expect(of(body, 'credits.low')).toMatchObject({ subscribed: false, events: { count: 0, more: false } })
  // A webhook of some senders gets only their events, and those that have no sender.
  const change = { method: 'PATCH', body: { senders: [`snd_${sender}`] } }
  expect((await admin.call(at(`/webhooks/${id}`), change)).status).toBe(200)
  const filtered = await get(`/webhooks/${id}/events`)
  expect(of(filtered, 'flow.completed')).toMatchObject({ events: { count: 1 }, last_at: last })
  expect(of(filtered, 'message.read')).toMatchObject({ events: { count: 1 } })
})

test('the events of a webhook need the permission and a webhook of the workspace', async () => {
  const { line, workspaceId, admin, at } = await setUp()
  const other = await setUp()
  const { id } = await line.listen(await newReceiver())
  const foreign = await other.line.listen(await newReceiver())
  expect((await admin.call(at(`/webhooks/${foreign.id}/events`))).status).toBe(404)
  const member = await signedIn(server, { workspaceId, role: 'member' })
  expect((await member.call(at(`/webhooks/${id}/events`))).body.error.code).toBe('not_permitted')
  const developer = await signedIn(server, { workspaceId, role: 'developer' })
  expect((await developer.call(at(`/webhooks/${id}/events`))).status).toBe(200)
})
