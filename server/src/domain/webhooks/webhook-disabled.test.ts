import { eventSchemas } from '@parley/contract/events'
import { Check } from 'typebox/value'
import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { newLine, openOf, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { eventsOf } from '../../../testing/network-app.ts'
import { type Receiver, useReceivers } from '../../../testing/receiver.ts'
import { useTestServer } from '../../../testing/test-server.ts'

const server = useTestServer()
const deliveries = useDeliveryWorker(server)
const newReceiver = useReceivers()
const drain = () => deliveries.worker.drain()

const types = ['message.received', 'webhook.disabled']

/** A workspace with two endpoints that get the same events. */
async function setUp() {
  const line = await newLine(server)
  const [broken, other] = [await newReceiver(), await newReceiver()]
  const { id } = await line.listen(broken, types)
  const { id: otherId } = await line.listen(other, types)
  const admin = await signedIn(server, { workspaceId: line.workspace.id, role: 'admin' })
  const call = (action: 'enable' | 'disable', body?: object) =>
    admin.call(`/w/${line.workspace.id}/webhooks/${id}/${action}`, { method: 'POST', body })
  return { line, broken, other, id, otherId, call }
}

const disabledIn = ({ received }: Receiver) =>
  received.map(({ body }) => JSON.parse(body)).filter(({ type }) => type === 'webhook.disabled')

async function failUntilDisabled({ line, broken, id }: Awaited<ReturnType<typeof setUp>>): Promise<void> {
  broken.behave(503)
  await line.write(30)
  for (let turns = 0; turns < 40; turns++) {
    await drain()
    const row = await server.db.first<{ enabled: boolean }>('select enabled from webhooks where id = $1', [id.slice(4)])
    if (!row?.enabled) return drain()
    server.clock.forward({ seconds: 2 })
  }
  throw new Error('the endpoint is still enabled')
}

test('webhook.disabled tells the other endpoints that one was disabled after 20 failures, and not itself', async () => {
  const endpoints = await setUp()
  const { broken, other, id } = endpoints
  await failUntilDisabled(endpoints)
  const events = disabledIn(other)
  expect(events).toHaveLength(1)
  expect(Check(eventSchemas['webhook.disabled'], events[0])).toBe(true)
  expect(events[0].data).toEqual({
    webhook_id: id,
    name: 'receiver',
    url: broken.url,
    reason: expect.stringMatching(/^20 attempts in a row have failed since .* returned status 503\.$/),
    failing_since: expect.stringMatching(/Z$/),
  })
  expect((await openOf(server, id)).map(({ event_id }) => event_id)).not.toContain(events[0].id)
  broken.behave(200)
  expect((await endpoints.call('enable')).status).toBe(200)
  await drain()
  expect(broken.received.length).toBeGreaterThan(20)
  expect(disabledIn(broken)).toEqual([])
})

test('webhook.disabled is published when a person disables an endpoint, once until it is enabled again', async () => {
  const { line, broken, other, id, call } = await setUp()
  expect((await call('disable', { reason: 'moving servers' })).status).toBe(200)
  await call('disable', { reason: 'again' })
  await drain()
  expect(disabledIn(other).map(({ data }) => data)).toEqual([
    { webhook_id: id, name: 'receiver', url: broken.url, reason: 'moving servers', failing_since: null },
  ])
  await call('enable')
  await call('disable', { reason: 'moving again' })
  await drain()
  expect(disabledIn(other).map(({ data }) => data.reason)).toEqual(['moving servers', 'moving again'])
  expect(await openOf(server, id)).toEqual([])
  expect((await eventsOf(server, line.workspace.id)).map(({ type }) => type)).toEqual([
    'webhook.disabled',
    'webhook.disabled',
  ])
})

test('an endpoint that was disabled before gets held what another one tells it', async () => {
  const { id, otherId, call, line } = await setUp()
  const admin = await signedIn(server, { workspaceId: line.workspace.id, role: 'admin' })
  const path = `/w/${line.workspace.id}/webhooks/${otherId}/disable`
  await admin.call(path, { method: 'POST', body: { reason: 'first' } })
  await drain()
  await call('disable', { reason: 'second' })
  expect(await openOf(server, otherId)).toHaveLength(1)
  expect(await openOf(server, id)).toEqual([])
})
