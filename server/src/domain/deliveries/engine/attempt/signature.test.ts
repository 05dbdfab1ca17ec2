import { Webhook as StandardWebhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { expect, test } from 'vitest'
import { attemptsOf, newLine, openOf, useDeliveryWorker } from '../../../../../testing/deliveries.ts'
import { type Received, useReceivers } from '../../../../../testing/receiver.ts'
import { useTestServer } from '../../../../../testing/test-server.ts'
import { until } from '../../../../../testing/until.ts'
import { activateSecret, cancelRotation, rotateWebhook, stageRotation } from '../../../webhooks/rotation.ts'
import { hintOf } from '../../../webhooks/secret.ts'
import { sendTestEvent } from '../../../webhooks/test-event.ts'
import { listWebhooks } from '../../../webhooks/webhooks.ts'

const server = useTestServer()
const deliveries = useDeliveryWorker(server)
const newReceiver = useReceivers()

/** Verifies with Stripe's library, at the time of the test server's clock. */
function verifiesWithStripe(secret: string, { body, headers }: Received): boolean {
  try {
    const seconds = server.clock.now().getTime() / 1000
    const signature = String(headers['service-signature'])
    new Stripe('sk_test_unused').webhooks.constructEvent(body, signature, secret, 300, undefined, seconds * 1000)
    return true
  } catch {
    return false
  }
}

function verifiesWithStandardWebhooks(secret: string, { body, headers }: Received): boolean {
  try {
    const now = Date.now
    Date.now = () => server.clock.now().getTime()
    try {
      new StandardWebhook(secret).verify(body, headers as Record<string, string>)
    } finally {
      Date.now = now
    }
    return true
  } catch {
    return false
  }
}

test('the Stripe and Standard Webhooks libraries verify a delivery', async () => {
  const receiver = await newReceiver()
  const line = await newLine(server)
  const { secret } = await line.listen(receiver)
  await line.write(3)
  await deliveries.worker.drain()
  expect(receiver.received).toHaveLength(3)
  for (const got of receiver.received) {
    expect(verifiesWithStripe(secret, got)).toBe(true)
    expect(verifiesWithStandardWebhooks(secret, got)).toBe(true)
    expect(got.headers['webhook-id']).toBe(got.id)
    const changed = { ...got, body: got.body.replace('message', 'massage') }
    expect(verifiesWithStripe(secret, changed)).toBe(false)
    expect(verifiesWithStandardWebhooks(secret, changed)).toBe(false)
  }
})

test('after a rotation the next attempt verifies with the new secret only', async () => {
  const receiver = await newReceiver()
  const line = await newLine(server)
  const { id, secret: old } = await line.listen(receiver)
  receiver.behave((response, got) => {
    response.writeHead(verifiesWithStripe(current, got) ? 200 : 400).end()
  })
  let current = 'whsec_not-yet'
  await line.write()
  await deliveries.worker.drain()
  expect(receiver.received).toHaveLength(2)
  const { secret, webhook } = await rotateWebhook(server.db, server.clock, server.secretKeys, id)
  current = secret
  expect(webhook.secret_hint).toBe(hintOf(secret))
  expect((await listWebhooks(server.db, line.workspace.id))[0]?.secret_hint).toMatch(/^whsec_.{4}\.\.\..{4}$/)
  // What failed within the last hour is due immediately.
  await deliveries.worker.drain()
  await line.write()
  await deliveries.worker.drain()
  expect(receiver.received).toHaveLength(4)
  for (const got of receiver.received.slice(2)) {
    expect(verifiesWithStripe(secret, got)).toBe(true)
    expect(verifiesWithStandardWebhooks(secret, got)).toBe(true)
    expect(verifiesWithStripe(old, got)).toBe(false)
    expect(verifiesWithStandardWebhooks(old, got)).toBe(false)
  }
})

test('a rotation makes due what failed within the last hour, and nothing older', async () => {
  const receiver = await newReceiver()
  const line = await newLine(server)
  const { id } = await line.listen(receiver)
  let current = 'whsec_not-yet'
  receiver.behave((response, got) => void response.writeHead(verifiesWithStripe(current, got) ? 200 : 400).end())
  const failTimes = async (delays: readonly number[]) => {
    for (const seconds of delays) {
      server.clock.forward({ seconds })
      await deliveries.worker.drain()
    }
  }
  await line.write()
  // The sixth attempt fails, the next is due two hours later.
  await failTimes([0, 10, 60, 300, 1800])
  expect(receiver.received).toHaveLength(6)
  const [old] = receiver.received
  server.clock.forward({ minutes: 61 })
  await line.write()
  // A failing endpoint gets one attempt at a time, so its immediate retry is made at the next of these times.
  await failTimes([0, 10, 60, 300])
  expect(receiver.received).toHaveLength(10)
  const recent = receiver.received.at(-1)
  current = (await rotateWebhook(server.db, server.clock, server.secretKeys, id)).secret
  await failTimes([0, 2])
  expect(receiver.received.slice(10).map((got) => got.id)).toEqual([recent?.id])
  expect((await openOf(server, id)).map((open) => open.event_id)).toEqual([old?.id])
})

test('a rotation retries a delivery that failed permanently within the last hour, but no test event', async () => {
  const receiver = await newReceiver()
  const line = await newLine(server)
  const { id } = await line.listen(receiver)
  receiver.behave(400)
  await line.write()
  for (const seconds of [0, 10, 60, 300, 1800, 7200, 21_600]) {
    server.clock.forward({ seconds })
    await deliveries.worker.drain()
  }
  server.clock.forward({ seconds: 2 })
  const testEvent = await sendTestEvent(server.db, server.clock, id)
  await deliveries.worker.drain()
  expect(receiver.received).toHaveLength(9)
  expect(receiver.received.at(-1)?.id).toBe(testEvent)
  expect(await openOf(server, id)).toEqual([])
  receiver.behave(200)
  const { secret } = await rotateWebhook(server.db, server.clock, server.secretKeys, id)
  server.clock.forward({ seconds: 2 })
  await deliveries.worker.drain()
  expect(receiver.received).toHaveLength(10)
  const last = receiver.received.at(-1) as Received
  expect(last.id).toBe(receiver.received[0]?.id)
  expect(verifiesWithStripe(secret, last)).toBe(true)
})

test('an attempt that was in progress during the rotation and fails is repeated immediately', async () => {
  const receiver = await newReceiver()
  const line = await newLine(server)
  const { id } = await line.listen(receiver)
  receiver.next(400)
  const responses: (() => void)[] = []
  receiver.next((response) => void responses.push(() => response.writeHead(400).end()))
  await line.write()
  await until('the second attempt is in progress', () => responses.length === 1)
  const { secret } = await rotateWebhook(server.db, server.clock, server.secretKeys, id)
  responses[0]?.()
  await deliveries.worker.drain()
  expect(receiver.received).toHaveLength(3)
  expect(verifiesWithStripe(secret, receiver.received[2] as Received)).toBe(true)
})

test('the last attempt of a schedule that was in progress during the rotation and fails is repeated, a test event is not', async () => {
  const receiver = await newReceiver()
  const line = await newLine(server)
  const { id } = await line.listen(receiver)
  receiver.behave(400)
  await line.write()
  for (const seconds of [0, 10, 60, 300, 1800, 7200]) {
    server.clock.forward({ seconds })
    await deliveries.worker.drain()
  }
  expect(receiver.received).toHaveLength(7)
  const responses: (() => void)[] = []
  receiver.next((response) => void responses.push(() => response.writeHead(400).end()))
  server.clock.forward({ seconds: 21_600 })
  await deliveries.worker.claim()
  await until('the eighth attempt is in progress', () => responses.length === 1)
  receiver.behave(200)
  const { secret } = await rotateWebhook(server.db, server.clock, server.secretKeys, id)
  responses[0]?.()
  await deliveries.worker.idle()
  server.clock.forward({ seconds: 2 })
  await deliveries.worker.drain()
  expect(receiver.received).toHaveLength(9)
  const last = receiver.received[8] as Received
  expect(last.id).toBe(receiver.received[0]?.id)
  expect(verifiesWithStripe(secret, last)).toBe(true)
  expect((await attemptsOf(server, id)).at(-1)).toMatchObject({ number: 1, trigger: 'retry', state: 'delivered' })
  receiver.next((response) => void responses.push(() => response.writeHead(400).end()))
  await sendTestEvent(server.db, server.clock, id)
  await deliveries.worker.claim()
  await until('the test event is in progress', () => responses.length === 2)
  await rotateWebhook(server.db, server.clock, server.secretKeys, id)
  responses[1]?.()
  await deliveries.worker.drain()
  expect(receiver.received).toHaveLength(10)
  expect(await openOf(server, id)).toEqual([])
})

test('during a staged rotation deliveries verify with both secrets, and after activation with the new one only', async () => {
  const receiver = await newReceiver()
  const line = await newLine(server)
  const { id, secret: old } = await line.listen(receiver)
  const { secret: dropped } = await stageRotation(server.db, server.secretKeys, id)
  await cancelRotation(server.db, id)
  const { secret, webhook } = await stageRotation(server.db, server.secretKeys, id)
  expect(webhook.secret_hint).toBe(hintOf(old))
  const next = async () => {
    await line.write()
    await deliveries.worker.drain()
    const got = receiver.received.at(-1) as Received
    return [old, secret, dropped].map((each) => [
      verifiesWithStripe(each, got),
      verifiesWithStandardWebhooks(each, got),
    ])
  }
  const [yes, no] = [
    [true, true],
    [false, false],
  ]
  expect(await next()).toEqual([yes, yes, no])
  const { headers } = receiver.received.at(-1) as Received
  expect(headers['service-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
  expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/)
  receiver.next(400, 400)
  await line.write()
  await deliveries.worker.drain()
  const refused = receiver.received.at(-1)?.id
  expect((await activateSecret(server.db, server.clock, id)).secret_hint).toBe(hintOf(secret))
  await deliveries.worker.drain()
  expect(receiver.received.at(-1)?.id).toBe(refused)
  expect(await next()).toEqual([no, yes, no])
  await expect(activateSecret(server.db, server.clock, id)).rejects.toThrow('no new secret')
})

test('a staged secret is encrypted in the database', async () => {
  const line = await newLine(server)
  const { id } = await line.listen(await newReceiver())
  const { secret } = await stageRotation(server.db, server.secretKeys, id)
  const row = await server.db.first('select webhooks::text as all from webhooks where id = $1', [id.slice(4)])
  expect(JSON.stringify(row)).not.toContain(secret.slice(10, -4))
})
