import { expect, test } from 'vitest'
import { signedIn } from '../../../../../testing/console.ts'
import { attemptsOf, newLine, openOf, useDeliveryWorker } from '../../../../../testing/deliveries.ts'
import { useReceivers } from '../../../../../testing/receiver.ts'
import { useTestServer } from '../../../../../testing/test-server.ts'
import { formatTime } from '../../../../lib/format.ts'
import { enableWebhook } from '../../../webhooks/webhooks.ts'

const server = useTestServer()
const deliveries = useDeliveryWorker(server)
const newReceiver = useReceivers()

async function newEndpoint() {
  const receiver = await newReceiver()
  const line = await newLine(server)
  /** Attempts until the receiver has got this many, two seconds apart. */
  const failUntil = async (count: number) => {
    await drain()
    while (receiver.received.length < count) {
      server.clock.forward({ seconds: 2 })
      await drain()
    }
  }
  return { receiver, line, failUntil, ...(await line.listen(receiver)) }
}

const drain = () => deliveries.worker.drain()

test('an event is posted to the endpoint immediately, and the attempt is recorded', async () => {
  const { receiver, line, id } = await newEndpoint()
  await line.write()
  await drain()
  expect(receiver.received).toHaveLength(1)
  const [got] = receiver.received
  expect(JSON.parse(got?.body ?? '')).toMatchObject({ id: got?.id, type: 'message.received' })
  expect(got?.headers).toMatchObject({
    'content-type': 'application/json',
    'service-event': 'message.received',
    'user-agent': 'Parley/test',
    'accept-encoding': 'identity',
  })
  expect(await attemptsOf(server, id)).toMatchObject([
    {
      event_id: got?.id,
      number: 1,
      trigger: 'first',
      state: 'delivered',
      address: '127.0.0.1',
      status: 200,
      error: null,
      answer: Buffer.from('response 200'),
      at: server.clock.now(),
    },
  ])
  expect(await openOf(server, id)).toEqual([])
})

test('eight attempts: two immediately, then 10 s, 1 min, 5 min, 30 min, 2 h and 6 h after the previous failure', async () => {
  const { receiver, line, id } = await newEndpoint()
  receiver.behave(500)
  const began = server.clock.now().getTime()
  await line.write()
  await drain()
  expect(receiver.received).toHaveLength(2)
  const waits = [10, 60, 300, 1800, 7200, 21_600]
  for (const [index, seconds] of waits.entries()) {
    server.clock.forward({ seconds: seconds - 1 })
    await drain()
    expect(receiver.received, `a second before ${seconds} s`).toHaveLength(index + 2)
    server.clock.forward({ seconds: 1 })
    await drain()
    expect(receiver.received, `after ${seconds} s`).toHaveLength(index + 3)
  }
  const attempts = await attemptsOf(server, id)
  expect(attempts.map((each) => (each.at.getTime() - began) / 1000)).toEqual([0, 0, 10, 70, 370, 2170, 9370, 30_970])
  expect(attempts.map(({ state, trigger, number }) => [number, trigger, state])).toEqual([
    [1, 'first', 'retrying'],
    ...[2, 3, 4, 5, 6, 7].map((number) => [number, 'retry', 'retrying']),
    [8, 'retry', 'failed'],
  ])
  expect(await openOf(server, id)).toEqual([])
  server.clock.forward({ hours: 48 })
  await drain()
  expect(receiver.received).toHaveLength(8)
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1)
})

test('the twentieth failure in a row disables the endpoint with a reason, and enabling it delivers all held events', async () => {
  const { receiver, line, id, failUntil } = await newEndpoint()
  receiver.behave(503)
  const began = formatTime(server.clock.now())
  await line.write(12)
  await failUntil(20)
  const endpoint = async () => ((await line.workspace.call('/v1/webhook')).body as { data: object[] }).data[0]
  expect(await endpoint()).toMatchObject({
    enabled: false,
    disabled_reason: `20 attempts in a row have failed since ${began}. The last one returned status 503.`,
    last_success_at: null,
  })
  const admin = await signedIn(server, { workspaceId: line.workspace.id, role: 'admin' })
  const { data } = (await admin.call(`/w/${line.workspace.id}/audit?action=webhook`)).body
  expect(data).toMatchObject([
    {
      actor: 'system',
      action: 'webhook.disable',
      target: id,
      target_name: 'receiver',
      before: { enabled: true },
      after: { enabled: false, disabled_reason: expect.stringMatching(/^20 attempts in a row/) },
    },
  ])
  const receivedBefore = receiver.received.length
  expect(receivedBefore).toBe(20)
  // New events are held as well.
  await line.write(5)
  server.clock.forward({ hours: 12 })
  await drain()
  expect(receiver.received).toHaveLength(receivedBefore)
  expect(await openOf(server, id)).toHaveLength(17)
  receiver.behave(200)
  await enableWebhook(server.db, server.clock, id)
  await drain()
  const arrived = receiver.received.slice(receivedBefore)
  expect(new Set(arrived.map((each) => each.id)).size).toBe(17)
  expect(arrived).toHaveLength(17)
  expect(await openOf(server, id)).toEqual([])
  expect(await endpoint()).toMatchObject({
    enabled: true,
    disabled_reason: null,
    last_success_at: server.clock.now().toISOString(),
  })
})

test('a success after the nineteenth failure resets the failure count', async () => {
  const { receiver, line, id, failUntil } = await newEndpoint()
  const failures = async () =>
    (await server.db.first<{ failures: number }>('select failures from webhooks where id = $1', [id.slice(4)]))
      ?.failures
  receiver.behave(500)
  await line.write(12)
  await failUntil(19)
  expect(await failures()).toBe(19)
  receiver.behave(200)
  server.clock.forward({ seconds: 2 })
  await drain()
  expect(await failures()).toBe(0)
  receiver.behave(500)
  await line.write(12)
  await failUntil(receiver.received.length + 19)
  expect(await failures()).toBe(19)
  expect(await server.db.first('select enabled from webhooks where id = $1', [id.slice(4)])).toEqual({ enabled: true })
})
