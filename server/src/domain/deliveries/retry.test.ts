import { expect, test } from 'vitest'
import { changeWebhook } from '../../../testing/change-webhook.ts'
import { attemptsOf, localRules, newLine, openOf, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { openTransaction } from '../../../testing/open-transaction.ts'
import { useReceivers } from '../../../testing/receiver.ts'
import { rowsRead } from '../../../testing/rows-read.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { sendTestEvent } from '../webhooks/test-event.ts'
import { deleteWebhook, disableWebhook, enableWebhook, listWebhooks } from '../webhooks/webhooks.ts'
import { listDeliveries } from './reading/newest.ts'
import { retryDeliveries, retryDelivery, retryFailedSince } from './retry.ts'

const server = useTestServer()
const deliveries = useDeliveryWorker(server)
const newReceiver = useReceivers()
const drain = () => deliveries.worker.drain()

async function newEndpoint() {
  const receiver = await newReceiver()
  const line = await newLine(server)
  return { receiver, line, ...(await line.listen(receiver)) }
}

/** Lets the whole retry schedule pass. A failing endpoint gets one attempt every two seconds. */
async function exhaustRetries() {
  for (const seconds of [2, 10, 60, 300, 1800, 7200, 21_600]) {
    server.clock.forward({ seconds })
    await drain()
    server.clock.forward({ seconds: 2 })
    await drain()
  }
}

test('a manual retry sends a delivered event again, and gives a failed one a new schedule', async () => {
  const { receiver, line, id } = await newEndpoint()
  await line.write()
  await drain()
  const eventId = receiver.received[0]?.id ?? ''
  await retryDelivery(server.db, server.clock, id, eventId)
  await drain()
  expect(receiver.received.map((each) => each.id)).toEqual([eventId, eventId])
  receiver.behave(500)
  await retryDelivery(server.db, server.clock, id, eventId)
  await drain()
  await exhaustRetries()
  expect(receiver.received).toHaveLength(10)
  expect(await listDeliveries(server.db, { webhookId: id })).toMatchObject([
    // All attempts count, as in the console, not only those since the last manual retry.
    { event_id: eventId, state: 'failed', attempts: 10, last_status: 500, last_error: 'http', next_attempt_at: null },
  ])
  receiver.behave(200)
  server.clock.forward({ seconds: 2 })
  await retryDelivery(server.db, server.clock, id, eventId)
  await drain()
  expect((await attemptsOf(server, id)).at(-1)).toMatchObject({ number: 1, trigger: 'manual', state: 'delivered' })
  expect(await listDeliveries(server.db, { webhookId: id })).toMatchObject([{ state: 'delivered', attempts: 11 }])
})

test('a manual retry reads its event, not all events', async () => {
  const { receiver, line, id } = await newEndpoint()
  await line.write()
  await drain()
  const eventId = receiver.received[0]?.id ?? ''
  await server.db.change(
    `insert into events select (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid()))).*
     from events e, generate_series(1, 2000) where e.id = $1`,
    [eventId],
  )
  const read = await rowsRead(server.db, 'events', (tx) => retryDelivery(tx, server.clock, id, eventId))
  expect(read).toBeGreaterThan(0)
  expect(read).toBeLessThan(20)
})

test('a bulk retry retries only the deliveries that failed since the given time', async () => {
  const { receiver, line, id } = await newEndpoint()
  receiver.behave(500)
  await line.write()
  await drain()
  await exhaustRetries()
  server.clock.forward({ hours: 1 })
  const since = server.clock.now()
  await line.write()
  await drain()
  await exhaustRetries()
  receiver.behave(200)
  await line.write()
  await drain()
  const before = receiver.received.length
  server.clock.forward({ seconds: 1 })
  expect(await retryFailedSince(server.db, server.clock, id, since)).toEqual({ count: 1, more: false })
  await drain()
  expect(receiver.received).toHaveLength(before + 1)
  expect(await retryFailedSince(server.db, server.clock, id, since)).toMatchObject({ count: 0 })
  expect(await retryFailedSince(server.db, server.clock, id, new Date(0))).toMatchObject({ count: 1 })
  await drain()
  expect(await listDeliveries(server.db, { webhookId: id, state: 'failed' })).toEqual([])
})

test('a disabled endpoint gets only manual retries and test events, and a test event goes to no other endpoint', async () => {
  const { receiver, line, id } = await newEndpoint()
  const other = await newReceiver()
  await line.listen(other)
  await disableWebhook(server.db, server.clock, id, 'moving servers')
  await line.write(2)
  await drain()
  expect(receiver.received).toEqual([])
  expect(other.received).toHaveLength(2)
  expect(await listDeliveries(server.db, { webhookId: id, state: 'held' })).toHaveLength(2)
  const testId = await sendTestEvent(server.db, server.clock, id)
  await retryDelivery(server.db, server.clock, id, other.received[0]?.id ?? '')
  await drain()
  expect(new Set(receiver.received.map((each) => each.id))).toEqual(new Set([testId, other.received[0]?.id]))
  expect(other.received).toHaveLength(2)
  await enableWebhook(server.db, server.clock, id)
  await drain()
  expect(receiver.received).toHaveLength(3)
})

test('a changed URL or event list takes effect, and a deleted endpoint gets nothing more', async () => {
  const { receiver, line, id } = await newEndpoint()
  const other = await newReceiver()
  await changeWebhook(server.db, server.clock, server.secretKeys, localRules, id, { url: other.url })
  await line.write()
  await drain()
  expect([receiver.received.length, other.received.length]).toEqual([0, 1])
  await changeWebhook(server.db, server.clock, server.secretKeys, localRules, id, { events: ['flow.completed'] })
  await line.write()
  await drain()
  expect(other.received).toHaveLength(1)
  await changeWebhook(server.db, server.clock, server.secretKeys, localRules, id, { events: ['message.received'] })
  await disableWebhook(server.db, server.clock, id, 'for now')
  await line.write()
  await deleteWebhook(server.db, server.clock, id)
  await line.write()
  await drain()
  expect(other.received).toHaveLength(1)
  expect(await openOf(server, id)).toEqual([])
  expect(await listWebhooks(server.db, line.workspace.id)).toEqual([])
  await expect(enableWebhook(server.db, server.clock, id)).rejects.toMatchObject({ code: 'not_found' })
  await expect(retryDelivery(server.db, server.clock, id, other.received[0]?.id ?? '')).rejects.toMatchObject({
    code: 'not_found',
  })
})

test('retrying an event of another workspace or an unknown event is not_found', async () => {
  const mine = await newEndpoint()
  const theirs = await newEndpoint()
  await theirs.line.write()
  await drain()
  const eventId = theirs.receiver.received[0]?.id ?? ''
  for (const wrong of [eventId, 'nonsense', '0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d']) {
    await expect(retryDelivery(server.db, server.clock, mine.id, wrong)).rejects.toMatchObject({ code: 'not_found' })
  }
})

test('a manual retry of several deliveries waits for a recording before it locks any of them', async () => {
  const { receiver, line, id } = await newEndpoint()
  receiver.behave(500)
  await line.write(3)
  await drain()
  const deliveries = (await openOf(server, id)).map(({ event_id: eventId }) => ({ webhookId: id, eventId }))
  expect(deliveries).toHaveLength(3)
  // A recording locks the endpoint first, and then deliveries in any order.
  const recording = await openTransaction(server.db, (tx) =>
    tx.rows('select 1 from webhooks where id = $1 for update', [id.slice(4)]),
  )
  const retried = retryDeliveries(server.db, server.clock, line.workspace.id, deliveries)
  const waits = `select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%from webhooks where id = any%'`
  await until('the retry waits for the endpoint', async () => (await server.db.rows(waits)).length > 0)
  const free = await server.db.rows('select 1 from deliveries where webhook_id = $1 for update skip locked', [
    id.slice(4),
  ])
  expect(free).toHaveLength(3)
  await recording.commit()
  expect(await retried).toBe(3)
})
