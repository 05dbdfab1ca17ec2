import { beforeAll, expect, test } from 'vitest'
import { eventsOf, signatureOf } from '../../../testing/network-app.ts'
import { type TestShop, useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { ingressPath } from '../connections/apps.ts'

const server = useTestServer()
const sending = useSending(server)

// The simulated network has the clock of the machine. These tests report the statuses themselves.
beforeAll(() => void sending.network.control.switches.set({ delayWebhooksMs: 3_600_000 }))

/** Moves the clock to a time within a second, so that truncating it gives an earlier time. */
function moveIntoSecond(ms: number): Date {
  server.clock.forward({ ms: 1000 - (server.clock.now().getTime() % 1000) + ms })
  return server.clock.now()
}

async function timesOf(shop: TestShop, id: string) {
  const message = await shop.look(id)
  const events = (await eventsOf(server, shop.workspace.id)).filter(({ data }) => data.message_id === id)
  const history = Object.fromEntries(message.history.map(({ status, occurred_at }) => [status, occurred_at]))
  const eventTimes = Object.fromEntries(events.map(({ data }) => [data.status, data.occurred_at]))
  const { created_at, sent_at, delivered_at, read_at, failed_at } = message
  const fields = { queued: created_at, sent: sent_at, delivered: delivered_at, read: read_at, failed: failed_at }
  const set = Object.fromEntries(Object.entries(fields).filter(([, time]) => time !== null))
  expect(history).toEqual(set)
  expect({ queued: created_at, ...eventTimes }).toEqual(set)
  return { order: message.history.map(({ status }) => status), ...fields }
}

const after = (date: Date, ms: number) => new Date(date.getTime() + ms).toISOString()

/** Reports statuses of a message as the network does, each with a time in seconds. */
async function report(shop: TestShop, id: string, statuses: readonly [status: string, at: Date][]): Promise<void> {
  const sender = await server.db.first<{ number: string }>(
    'select phone_number_id as number from senders where workspace_id = $1',
    [shop.workspace.id],
  )
  const recipient = { recipient_id: '16505550123', biz_opaque_callback_data: id }
  const reports = statuses.map(([status, at]) => ({
    ...recipient,
    id: `wamid.${id}`,
    status,
    timestamp: String(Math.trunc(at.getTime() / 1000)),
  }))
  const metadata = { display_phone_number: '15550780001', phone_number_id: sender?.number }
  const changes = [{ field: 'messages', value: { messaging_product: 'whatsapp', metadata, statuses: reports } }]
  const body = JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: '1', changes }] })
  const response = await fetch(server.url + ingressPath(shop.connection.appId), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf(shop.account.appSecret, body) },
    body,
  })
  expect(response.status).toBe(200)
}

test.each([
  ['in order', ['delivered', 'read']],
  ['in reverse order', ['read', 'delivered']],
])('statuses in the second of the request follow created_at by 1, 2 and 3 ms: %s', async (_label, statuses) => {
  const shop = await sending.newShop()
  const createdAt = moveIntoSecond(700)
  const { id } = await shop.sendText('16505550123')
  await sending.outbox.drain()
  for (const status of statuses) await report(shop, id, [[status, createdAt]])
  expect(await timesOf(shop, id)).toEqual({
    order: ['queued', 'sent', 'delivered', 'read'],
    queued: createdAt.toISOString(),
    sent: after(createdAt, 1),
    delivered: after(createdAt, 2),
    read: after(createdAt, 3),
    failed: null,
  })
})

test('sent has the whole second of the response, and an earlier time of delivered is moved after it', async () => {
  const shop = await sending.newShop()
  const createdAt = moveIntoSecond(700)
  const { id } = await shop.sendText('16505550123')
  // The call takes three seconds.
  const slow = sending.newOutbox({ onStep: (at) => at === 'calling' && server.clock.forward({ ms: 3_100 }) })
  await slow.drain()
  const second = new Date(createdAt.getTime() + 2_300)
  await report(shop, id, [['delivered', createdAt]])
  await report(shop, id, [['read', new Date(second.getTime() + 60_000)]])
  expect(await timesOf(shop, id)).toMatchObject({
    order: ['queued', 'sent', 'delivered', 'read'],
    sent: after(second, 1),
    delivered: after(second, 2),
    read: after(second, 60_003),
  })
})

test('statuses that arrive before the response keep their times, and sent is moved before them', async () => {
  const shop = await sending.newShop()
  const createdAt = moveIntoSecond(700)
  const { id } = await shop.sendText('16505550123')
  await report(shop, id, [['read', new Date(createdAt.getTime() + 2_000)]])
  await report(shop, id, [['sent', new Date(createdAt.getTime() + 60_000)]])
  await report(shop, id, [['delivered', createdAt]])
  const second = new Date(createdAt.getTime() + 1_300)
  expect(await timesOf(shop, id)).toMatchObject({
    order: ['queued', 'sent', 'delivered', 'read'],
    sent: after(second, 1),
    delivered: after(second, 2),
    read: after(second, 3),
  })
})

test('a message that the network rejects fails 3 ms after created_at at the earliest', async () => {
  const shop = await sending.newShop()
  const createdAt = moveIntoSecond(700)
  const { id } = await shop.sendText('15551131009')
  await sending.outbox.drain()
  expect(await timesOf(shop, id)).toMatchObject({ order: ['queued', 'failed'], failed: after(createdAt, 3) })
})
