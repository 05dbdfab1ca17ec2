import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { newDeliveryWorker, newLine, openOf } from '../../../../../testing/deliveries.ts'
import { type Receiver, useReceivers } from '../../../../../testing/receiver.ts'
import { useTestServer } from '../../../../../testing/test-server.ts'
import { until } from '../../../../../testing/until.ts'
import { sendTestEvent } from '../../../webhooks/test-event.ts'
import { enableWebhook } from '../../../webhooks/webhooks.ts'
import { retryDelivery } from '../../retry.ts'

const server = useTestServer()
const newReceiver = useReceivers()

const stateOf = async (id: string) =>
  server.db.first<{ enabled: boolean; failures: number; disabled_reason: string | null }>(
    'select enabled, failures, disabled_reason from webhooks where id = $1',
    [id.slice(4)],
  )

async function newEndpoint() {
  const worker = newDeliveryWorker(server, { deadlineMs: 10_000 })
  onTestFinished(() => worker.stop(0))
  const receiver = await newReceiver()
  const line = await newLine(server)
  return { worker, receiver, line, ...(await line.listen(receiver)) }
}

/** Thirty events wait for it, and its first attempts have failed. */
async function newFailingEndpoint() {
  const endpoint = await newEndpoint()
  endpoint.receiver.behave(503)
  for (let count = 0; count < 30; count++) await endpoint.line.write()
  await endpoint.worker.drain()
  return endpoint
}

test('from the fifth failure in a row an endpoint gets one attempt every two seconds, and is disabled after exactly twenty', async () => {
  const { worker, receiver, id } = await newFailingEndpoint()
  const before = receiver.received.length
  // Up to eight attempts are in progress when the first one fails.
  expect(before).toBeGreaterThanOrEqual(5)
  expect(before).toBeLessThanOrEqual(8)
  for (let made = before; made < 20; made++) {
    server.clock.forward({ seconds: 1 })
    await worker.drain()
    expect(receiver.received).toHaveLength(made)
    server.clock.forward({ seconds: 1 })
    await worker.drain()
    expect(receiver.received).toHaveLength(made + 1)
  }
  expect(await stateOf(id)).toMatchObject({ enabled: false, failures: 20 })
  server.clock.forward({ hours: 12 })
  await worker.drain()
  expect(receiver.received).toHaveLength(20)
  expect(await openOf(server, id)).toHaveLength(30)
  receiver.behave(200)
  await enableWebhook(server.db, server.clock, id)
  await worker.drain()
  expect(new Set(receiver.received.slice(20).map((got) => got.id)).size).toBe(30)
  expect(await openOf(server, id)).toEqual([])
})

test('one success ends the pacing, and everything that waited is delivered', async () => {
  const { worker, receiver, id } = await newFailingEndpoint()
  const before = receiver.received.length
  receiver.behave(200)
  server.clock.forward({ seconds: 2 })
  await worker.drain()
  expect(await stateOf(id)).toMatchObject({ enabled: true, failures: 0 })
  // Deliveries that have failed twice are due ten seconds later.
  server.clock.forward({ seconds: 10 })
  await worker.drain()
  expect(receiver.received).toHaveLength(before + 30)
  expect(new Set(receiver.received.slice(before).map((got) => got.id)).size).toBe(30)
})

/** Responds to the first requests, and leaves those after them in progress until `fail` is called. */
function stopResponding(receiver: Receiver, responses = 300) {
  const pending: (() => void)[] = []
  receiver.behave((response) => {
    if (receiver.received.length <= responses) response.end()
    else pending.push(() => response.writeHead(503).end())
  })
  return {
    pending,
    fail() {
      receiver.behave(503)
      for (const respond of pending) respond()
    },
  }
}

test('of 64 attempts in progress when a receiver goes down sixteen count, and it gets four more', async () => {
  const { worker, receiver, line, id } = await newEndpoint()
  const { pending, fail } = stopResponding(receiver)
  await line.write(600)
  await until('as many attempts as allowed are in progress', () => pending.length >= 64)
  await sleep(200)
  expect(pending).toHaveLength(64)
  fail()
  await worker.drain()
  expect(await stateOf(id)).toMatchObject({ enabled: true, failures: 16 })
  for (let paced = 0; paced < 10; paced++) {
    server.clock.forward({ seconds: 2 })
    await worker.drain()
  }
  expect(await stateOf(id)).toMatchObject({ enabled: false, failures: 20 })
  expect(receiver.received).toHaveLength(300 + 64 + 4)
})

test('a receiver that restarts for four seconds under heavy traffic stays enabled', async () => {
  const { worker, receiver, line, id } = await newEndpoint()
  const { pending, fail } = stopResponding(receiver)
  await line.write(600)
  await until('many attempts are in progress', () => pending.length >= 16)
  fail()
  await worker.drain()
  for (let paced = 0; paced < 2; paced++) {
    server.clock.forward({ seconds: 2 })
    await worker.drain()
  }
  receiver.behave(200)
  for (const seconds of [2, 10, 60]) {
    server.clock.forward({ seconds })
    await worker.drain()
  }
  expect(await stateOf(id)).toMatchObject({ enabled: true, failures: 0 })
  expect(await openOf(server, id)).toEqual([])
})

test('more than twenty attempts that were in progress in two processes do not disable an endpoint when they fail', async () => {
  const receiver = await newReceiver()
  const line = await newLine(server)
  const { id } = await line.listen(receiver)
  const { pending, fail } = stopResponding(receiver, 100)
  await line.write(900)
  const workers = [1, 2].map(() => newDeliveryWorker(server, { deadlineMs: 10_000 }))
  onTestFinished(async () => void (await Promise.all(workers.map((worker) => worker.stop(0)))))
  for (const worker of workers) await worker.claim()
  await until('many attempts are in progress', () => pending.length > 20)
  fail()
  await Promise.all(workers.map((worker) => worker.drain()))
  expect(await stateOf(id)).toMatchObject({ enabled: true, failures: 16 })
})

test('when a delivery expires with its event, the turn of its failing endpoint goes to the next delivery', async () => {
  const { worker, receiver, line, id } = await newFailingEndpoint()
  const before = receiver.received.length
  await server.db.change('delete from events where id in (select event_id from deliveries where webhook_id = $1)', [
    id.slice(4),
  ])
  await line.write()
  receiver.behave(200)
  server.clock.forward({ seconds: 2 })
  await worker.drain()
  expect(receiver.received.length).toBeGreaterThan(before)
  expect(await stateOf(id)).toMatchObject({ enabled: true, failures: 0 })
})

test('a test event and a manual retry are the next attempts at a failing endpoint', async () => {
  const { worker, receiver, id } = await newFailingEndpoint()
  server.clock.forward({ seconds: 2 })
  const eventId = await sendTestEvent(server.db, server.clock, id)
  await worker.drain()
  expect(receiver.received.at(-1)?.id).toBe(eventId)
  const waiting = (await openOf(server, id)).at(-1)?.event_id ?? ''
  server.clock.forward({ seconds: 1 })
  await retryDelivery(server.db, server.clock, id, waiting)
  await worker.drain()
  expect(receiver.received.at(-1)?.id).toBe(eventId)
  server.clock.forward({ seconds: 1 })
  await worker.drain()
  expect(receiver.received.at(-1)?.id).toBe(waiting)
})

test('a failed test event does not count as a failure, and a successful one does not reset the count', async () => {
  const { worker, receiver, line, id } = await newEndpoint()
  receiver.behave(500)
  await line.write(2)
  await worker.drain()
  expect(await stateOf(id)).toMatchObject({ failures: 4 })
  for (let count = 0; count < 25; count++) await sendTestEvent(server.db, server.clock, id)
  await worker.drain()
  expect(receiver.received).toHaveLength(29)
  expect(await stateOf(id)).toMatchObject({ enabled: true, failures: 4 })
  receiver.behave(200)
  await sendTestEvent(server.db, server.clock, id)
  await worker.drain()
  expect(await stateOf(id)).toMatchObject({ enabled: true, failures: 4 })
})
