import { Webhook as StandardWebhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { expect, test } from 'vitest'
import { newLine, useDeliveryWorker } from '../../../../testing/deliveries.ts'
import { type Received, useReceivers } from '../../../../testing/receiver.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { hintOf, listWebhooks, rotateWebhook } from '../../webhooks/webhooks.ts'

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
  const { secret, webhook } = await rotateWebhook(server.db, server.secretKeys, id)
  current = secret
  expect(webhook.secret_hint).toBe(hintOf(secret))
  expect((await listWebhooks(server.db, line.workspace.id))[0]?.secret_hint).toMatch(/^whsec_.{4}\.\.\..{4}$/)
  server.clock.forward({ seconds: 10 })
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
