import { eventSchemas } from '@parley/contract/events'
import { Check } from 'typebox/value'
import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { localRules, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { eventsOf } from '../../../testing/network-app.ts'
import { useReceivers } from '../../../testing/receiver.ts'
import { type TestShop, useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { giveCredits } from '../credits/credits.ts'
import { createWebhook } from '../webhooks/webhooks.ts'
import { passOn } from './pass-on.ts'

const server = useTestServer()
const sending = useSending(server)
const deliveries = useDeliveryWorker(server)
const newReceiver = useReceivers()

const to = '16505550123'

const give = ({ workspace }: TestShop, amount: number) =>
  giveCredits(server.db, server.clock, workspace.id, amount, 'test')

/** Sends messages at the same time, so that they are debited in batches. Each costs one credit. */
async function send(shop: TestShop, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => shop.sendText(to)))
}

const deps = () => ({ db: server.db, clock: server.clock, secretKeys: () => server.secretKeys, sendsMail: false })

/** Passes on as three processes would, and returns the data of the events that the workspace has. */
async function lowCredits({ workspace }: TestShop) {
  await Promise.all([1, 2, 3].map(() => passOn(deps())))
  const events = (await eventsOf(server, workspace.id)).filter(({ type }) => type === 'credits.low')
  for (const event of events) expect(Check(eventSchemas['credits.low'], event)).toBe(true)
  return events.map(({ data }) => data)
}

test('credits.low is published once when messages bring the balance to the mark, and again after it was above', async () => {
  const shop = await sending.newShop(110)
  await send(shop, 9)
  expect(await lowCredits(shop)).toEqual([])
  await send(shop, 20)
  const [first, ...others] = await lowCredits(shop)
  expect(others).toEqual([])
  expect(first).toMatchObject({ threshold: 100 })
  expect(first?.balance).toBeLessThanOrEqual(100)
  expect(first?.balance).toBeGreaterThanOrEqual(81)
  await send(shop, 5)
  await give(shop, 5)
  await send(shop, 5)
  expect(await lowCredits(shop)).toHaveLength(1)
  await give(shop, 100)
  await send(shop, 1)
  expect(await lowCredits(shop)).toHaveLength(1)
  await give(shop, -100)
  expect(await lowCredits(shop)).toMatchObject([{}, { threshold: 100 }])
})

test('the balance that equals the mark is low, even if a person set the mark in the console', async () => {
  const shop = await sending.newShop(50)
  const admin = await signedIn(server, { workspaceId: shop.workspace.id, role: 'admin' })
  const path = `/w/${shop.workspace.id}/credits`
  expect((await admin.call(path, { method: 'PATCH', body: { low_balance: 49 } })).status).toBe(200)
  await send(shop, 1)
  expect(await lowCredits(shop)).toEqual([{ balance: 49, threshold: 49 }])
  await admin.call(path, { method: 'PATCH', body: { low_balance: 0 } })
  await send(shop, 49)
  expect(await lowCredits(shop)).toEqual([
    { balance: 49, threshold: 49 },
    { balance: 0, threshold: 0 },
  ])
})

test('a message that is refused publishes nothing', async () => {
  const shop = await sending.newShop(101)
  const code = { type: 'template', template: { name: 'none', language: 'en' } }
  expect((await shop.send({ to, ...code })).status).toBe(400)
  expect(await lowCredits(shop)).toEqual([])
})

test('credits.low is delivered to endpoints that subscribe to it, and to no other workspace', async () => {
  const [shop, other] = [await sending.newShop(101), await sending.newShop(1000)]
  const listen = async ({ workspace }: TestShop, events: string[]) => {
    const receiver = await newReceiver()
    const { db, clock, secretKeys } = server
    const input = { workspaceId: workspace.id, name: 'receiver', url: receiver.url, events }
    await createWebhook(db, clock, secretKeys, localRules, input)
    return receiver
  }
  const subscribed = await listen(shop, ['credits.low'])
  const [messagesOnly, others] = [await listen(shop, ['message.received']), await listen(other, ['credits.low'])]
  await send(shop, 1)
  await passOn(deps())
  await deliveries.worker.drain()
  expect(subscribed.received.map(({ body }) => JSON.parse(body))).toMatchObject([
    { type: 'credits.low', data: { balance: 100, threshold: 100 } },
  ])
  expect([...messagesOnly.received, ...others.received]).toEqual([])
})
