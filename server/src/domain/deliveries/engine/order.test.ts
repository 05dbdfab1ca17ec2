import { expect, test } from 'vitest'
import { changeWebhook } from '../../../../testing/change-webhook.ts'
import { signedIn } from '../../../../testing/console.ts'
import { newConversations, textsAt, withoutRetries } from '../../../../testing/conversations.ts'
import { localRules, openOf, useDeliveryWorker } from '../../../../testing/deliveries.ts'
import { type Receiver, useReceivers } from '../../../../testing/receiver.ts'
import { rowsRead } from '../../../../testing/rows-read.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { subscribe } from '../../../db/topic.ts'
import { newUuid } from '../../../lib/ids.ts'
import { deleteWebhook, disableWebhook, enableWebhook } from '../../webhooks/webhooks.ts'
import { deleteDeliveriesOf } from '../erase-events.sql.ts'
import { retryDelivery } from '../retry.ts'
import { claimInTurn } from './claim/claims.ts'
import { firstAttempts } from './first-attempts.ts'
import { startWaiting } from './order.sql.ts'
import { newConversationSweep } from './order.ts'
import { publish } from './publish/publish.ts'
import { planMissing } from './start-worker.ts'

const server = useTestServer()
const deliveries = useDeliveryWorker(server, { deadlineMs: 10_000 })
const newReceiver = useReceivers()

const drain = () => deliveries.worker.drain()

/** Rejects the messages with this text. */
const reject = (receiver: Receiver, text: string) =>
  receiver.behave((response, { body }) => {
    // Not in the whole body: IDs have letters too.
    const { data } = JSON.parse(body) as { data: { text?: string; status?: string } }
    response.writeHead((data.text ?? data.status ?? '').includes(text) ? 500 : 200).end()
  })

const of = (person: string, receiver: Receiver) =>
  textsAt(receiver).flatMap((each) => (each.startsWith(`${person} `) ? [each.slice(person.length + 1)] : []))

async function setUp() {
  const receiver = await newReceiver()
  const conversations = await newConversations(server)
  return { receiver, ...conversations, id: await conversations.listen(receiver) }
}

const change = (id: string, input: Parameters<typeof changeWebhook>[5]) =>
  changeWebhook(server.db, server.clock, server.secretKeys, localRules, id, input)

const looksAt = async (id: string) =>
  (await server.db.rows('select 1 from conversation_looks where webhook_id = $1', [id.slice(4)])).length

test('the events of one person are delivered one after another, and others do not wait for them', async () => {
  const { receiver, write, id } = await setUp()
  reject(receiver, 'bad')
  await write(['1', 'a'], ['1', 'bad'], ['1', 'c'], ['2', 'a'], ['2', 'b'])
  await write(['1', 'd'], ['2', 'c'])
  await drain()
  expect(of('1', receiver)).toEqual(['a', 'bad', 'bad'])
  expect(of('2', receiver)).toEqual(['a', 'b', 'c'])
  expect(await openOf(server, id)).toHaveLength(3)
  receiver.behave(200)
  server.clock.forward({ seconds: 10 })
  await drain()
  expect(of('1', receiver)).toEqual(['a', 'bad', 'bad', 'bad', 'c', 'd'])
  expect(await openOf(server, id)).toEqual([])
  expect(await looksAt(id)).toBe(0)
})

test('10 people write 25 messages each to a receiver that rejects every fifth request: each arrives in order', async () => {
  const { receiver, write, id } = await setUp()
  let requests = 0
  let rejections = 0
  /** How often each event is rejected. Every second one twice: its third attempt is 10 seconds later. */
  const rejected = new Map<string, number>()
  const attempts = new Map<string, number>()
  receiver.behave((response, { id: event }) => {
    const attempt = (attempts.get(event) ?? 0) + 1
    attempts.set(event, attempt)
    if (++requests % 5 === 0 && attempt === 1) rejected.set(event, 1 + (++rejections % 2))
    response.writeHead(attempt <= (rejected.get(event) ?? 0) ? 503 : 200).end()
  })
  const people = Array.from({ length: 10 }, (_, index) => `1650555${1000 + index}`)
  const texts = Array.from({ length: 25 }, (_, index) => `message ${index}`)
  for (let first = 0; first < texts.length; first += 10) {
    await write(...people.flatMap((person) => texts.slice(first, first + 10).map((text) => [person, text] as const)))
  }
  let waits = 0
  for (await drain(); (await openOf(server, id)).length > 0; await drain()) {
    server.clock.forward({ seconds: 10 })
    waits++
  }
  for (const person of people) expect(withoutRetries(of(person, receiver)), person).toEqual(texts)
  // Nothing was attempted again after it had arrived.
  const failures = [...rejected.values()].reduce((sum, count) => sum + count, 0)
  expect(failures).toBeGreaterThan(40)
  expect(receiver.received).toHaveLength(people.length * texts.length + failures)
  // No one waits for the retries of others: hardly more waits than events of one person that were rejected twice.
  const waitsOf = people.map((person) => {
    const sent = receiver.received.filter(({ body }) => JSON.parse(body).data.from === person)
    return new Set(sent.flatMap(({ id: event }) => (rejected.get(event) === 2 ? [event] : []))).size
  })
  expect(waits).toBeLessThanOrEqual(Math.max(...waitsOf) + 2)
})

test('when an event has failed permanently, those after it are delivered', async () => {
  const { receiver, write, id } = await setUp()
  reject(receiver, 'bad')
  await write(['1', 'bad'], ['1', 'b'], ['1', 'c'])
  await drain()
  for (const seconds of [10, 60, 300, 1_800, 7_200, 21_600]) {
    expect(of('1', receiver)).not.toContain('b')
    server.clock.forward({ seconds })
    await drain()
    // From the fifth failure in a row on, attempts are at least two seconds apart.
    server.clock.forward({ seconds: 2 })
    await drain()
  }
  expect(of('1', receiver)).toEqual([...Array.from({ length: 8 }, () => 'bad'), 'b', 'c'])
  expect(await openOf(server, id)).toEqual([])
})

test('statuses and messages of one person are one conversation, per sender; a person without a number is one too', async () => {
  const receiver = await newReceiver()
  const { workspace, senders, listen } = await newConversations(server, 2)
  await listen(receiver, { ordering: 'conversation', events: ['message.received', 'message.read'] })
  const [first = '', second = ''] = senders.map((id) => id.slice(4))
  const message = (senderId: string, from: string | null, text: string) => ({
    workspaceId: workspace.id,
    type: 'message.received' as const,
    data: { sender_id: `snd_${senderId}`, from, from_user_id: 'u.1', text },
  })
  const status = { workspaceId: workspace.id, type: 'message.read' as const, senderId: first }
  reject(receiver, 'bad')
  await publish(server.db, server.clock.now(), [
    message(first, '1', 'bad'),
    { ...status, data: { to: '1', to_user_id: 'u.1', status: 'waits' } },
    { ...status, data: { to: '2', to_user_id: 'u.2', status: 'is of another person' } },
    message(second, '1', 'is of another sender'),
    message(first, null, 'bad, without a number'),
    { ...status, data: { to: null, to_user_id: 'u.1', status: 'waits too' } },
  ])
  await drain()
  expect(new Set(textsAt(receiver))).toEqual(
    new Set(['1 bad', '2 is of another person', '1 is of another sender', 'unknown bad, without a number']),
  )
})

test('an event that no process has started after its commit is started by the next claim', async () => {
  const { receiver, write } = await setUp()
  // As if the process had died immediately after each commit.
  subscribe(server.db, firstAttempts, deliveries.worker)()
  await write(['1', 'a'], ['2', 'a'])
  await write(['1', 'b'])
  subscribe(server.db, firstAttempts, deliveries.worker)
  await deliveries.worker.idle()
  expect(receiver.received).toEqual([])
  server.clock.forward({ seconds: 1 })
  await drain()
  expect(of('1', receiver)).toEqual(['a', 'b'])
  expect(of('2', receiver)).toEqual(['a'])
})

test('after a process has ended a delivery and died, the next claim starts the one after it', async () => {
  const { receiver, write, id } = await setUp()
  reject(receiver, 'bad')
  await write(['1', 'bad'], ['1', 'b'])
  await drain()
  // What it does when it has recorded the last attempt.
  await server.db.change(`delete from deliveries where webhook_id = $1 and due_at < 'infinity'`, [id.slice(4)])
  server.clock.forward({ seconds: 1 })
  await drain()
  expect(of('1', receiver)).toEqual(['bad', 'bad', 'b'])
})

test('a conversation in which none is in progress, for whatever reason, is found within minutes', async () => {
  const { receiver, write, id } = await setUp()
  reject(receiver, 'bad')
  await write(['1', 'bad'], ['1', 'b'], ['2', 'bad'], ['2', 'b'])
  await drain()
  await server.db.change(`update deliveries set due_at = 'infinity' where webhook_id = $1`, [id.slice(4)])
  receiver.behave(200)
  server.clock.forward({ seconds: 10 })
  await drain()
  await planMissing(server.db, server.clock.now())
  await drain()
  expect(of('1', receiver)).toEqual(['bad', 'bad'])
  await newConversationSweep()(server.db, server.clock.now())
  server.clock.forward({ seconds: 1 })
  await drain()
  for (const person of ['1', '2']) expect(of(person, receiver)).toEqual(['bad', 'bad', 'bad', 'b'])
})

test('events that are held while the endpoint is disabled arrive in order when it is enabled', async () => {
  const { receiver, write, id } = await setUp()
  reject(receiver, 'bad')
  await write(['1', 'bad'], ['1', 'b'])
  await drain()
  await disableWebhook(server.db, server.clock, id, 'maintenance')
  await write(['1', 'c'], ['2', 'a'], ['2', 'b'])
  server.clock.forward({ minutes: 1 })
  await drain()
  expect(receiver.received).toHaveLength(2)
  receiver.behave(200)
  await enableWebhook(server.db, server.clock, id)
  await drain()
  expect(of('1', receiver)).toEqual(['bad', 'bad', 'bad', 'b', 'c'])
  expect(of('2', receiver)).toEqual(['a', 'b'])
})

test('a manual retry of a waiting event retries the event that it waits for, and keeps the order', async () => {
  const { receiver, write, id, workspace } = await setUp()
  reject(receiver, 'bad')
  await write(['1', 'bad'], ['1', 'b'], ['1', 'c'])
  await drain()
  const [bad, , last] = (await openOf(server, id)).map(({ event_id }) => event_id)
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const detail = await admin.call(`/w/${workspace.id}/deliveries/${last}/${id}`)
  expect(detail.body).toMatchObject({ state: 'pending', next_attempt_at: null, waits_for: bad })
  await retryDelivery(server.db, server.clock, id, last ?? '')
  await drain()
  expect(of('1', receiver)).toEqual(['bad', 'bad', 'bad', 'bad'])
  receiver.behave(200)
  await retryDelivery(server.db, server.clock, id, last ?? '')
  await drain()
  expect(of('1', receiver).slice(4)).toEqual(['bad', 'b', 'c'])
})

test('a manual retry of an event that arrived is sent immediately, whatever waits', async () => {
  const { receiver, write, id } = await setUp()
  await write(['1', 'a'])
  await drain()
  reject(receiver, 'bad')
  await write(['1', 'bad'], ['1', 'c'])
  await drain()
  await retryDelivery(server.db, server.clock, id, receiver.received[0]?.id ?? '')
  await drain()
  expect(of('1', receiver)).toEqual(['a', 'bad', 'bad', 'a'])
})

test('without order, what waits is due immediately; with order again, new events wait again', async () => {
  const { receiver, write, id } = await setUp()
  reject(receiver, 'bad')
  await write(['1', 'bad'], ['1', 'b'], ['1', 'c'])
  await drain()
  await change(id, { ordering: 'none' })
  await drain()
  expect(of('1', receiver).sort()).toEqual(['b', 'bad', 'bad', 'bad', 'c'])
  await write(['1', 'bad too'], ['1', 'd'])
  await drain()
  expect(of('1', receiver)).toContain('d')
  await change(id, { ordering: 'conversation' })
  await write(['1', 'bad again'], ['1', 'e'])
  await drain()
  expect(of('1', receiver)).not.toContain('e')
})

test('what a transaction adds that did not know of the end of the order is not kept waiting', async () => {
  const { receiver, write, id } = await setUp()
  reject(receiver, 'bad')
  // As if it had read the endpoint before the change.
  subscribe(server.db, firstAttempts, deliveries.worker)()
  await write(['1', 'bad'], ['1', 'b'], ['1', 'c'])
  subscribe(server.db, firstAttempts, deliveries.worker)
  await server.db.change(`update webhooks set ordering = 'none' where id = $1`, [id.slice(4)])
  server.clock.forward({ seconds: 1 })
  await drain()
  expect(of('1', receiver).sort()).toEqual(['b', 'bad', 'bad', 'c'])
})

test('when the person of an event that is being retried is erased, what waits for it is delivered', async () => {
  const { receiver, write, id, workspace } = await setUp()
  reject(receiver, 'bad')
  await write(['1', 'bad'], ['1', 'b'])
  await drain()
  const [bad = ''] = (await openOf(server, id)).map(({ event_id }) => event_id)
  await server.db.transaction(async (tx) => {
    await tx.change('delete from events where id = $1', [bad])
    await deleteDeliveriesOf(tx, workspace.id, [bad])
  })
  server.clock.forward({ seconds: 1 })
  await drain()
  expect(of('1', receiver)).toEqual(['bad', 'bad', 'b'])
  expect(await openOf(server, id)).toEqual([])
})

test('an event that is past retention when it is its turn is left out', async () => {
  const { receiver, write, id } = await setUp()
  reject(receiver, 'bad')
  await write(['1', 'bad'], ['1', 'b'], ['1', 'c'], ['1', 'd'])
  await drain()
  const expired = (await openOf(server, id)).slice(1, 3).map(({ event_id }) => event_id)
  await server.db.change('delete from events where id = any($1::uuid[])', [expired])
  receiver.behave(200)
  server.clock.forward({ seconds: 10 })
  await drain()
  expect(of('1', receiver)).toEqual(['bad', 'bad', 'bad', 'd'])
  expect(await openOf(server, id)).toEqual([])
})

test('deleting an endpoint deletes what waits, and leaves nothing to look at', async () => {
  const { receiver, write, id } = await setUp()
  reject(receiver, 'bad')
  await write(['1', 'bad'], ['1', 'b'])
  await drain()
  await deleteWebhook(server.db, server.clock, id)
  expect(await openOf(server, id)).toEqual([])
  expect(await looksAt(id)).toBe(0)
})

test('a claim and the start of the next event read a few rows, however many conversations and events wait', async () => {
  const { write, id, workspace } = await setUp()
  const webhookId = id.slice(4)
  const { db, clock } = server
  const count = 8_000
  const now = clock.now()
  // One of each conversation is retried an hour later, and nine wait. One conversation has thousands that wait.
  await db.change(
    `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, attempts, trigger, due_at, conversation, position)
     select gen_random_uuid(), $1, $2, $3::timestamptz, 3, 'retry',
       case when n % 10 = 0 then $3::timestamptz + interval '1 hour' else 'infinity' end,
       case when n > $4::int then $5::uuid else md5((n / 10)::text)::uuid end, n
     from generate_series(0, $4::int + 2000) as n`,
    [webhookId, workspace.id, now, count, newUuid()],
  )
  // As PostgreSQL does within a minute. If it takes the table for an almost empty one, it reads the whole table at each claim.
  await db.script('analyze deliveries')
  await db.change('delete from conversation_looks where webhook_id = $1', [webhookId])
  await db.change(`update deliveries set due_at = 'infinity' where webhook_id = $1 and position > $2`, [
    webhookId,
    count,
  ])
  await write(['1', 'a'])
  await deliveries.worker.idle()
  await db.change('delete from endpoint_visits')
  const claim = { now, lease: newUuid(), leaseUntil: now, except: [], capacityOf: () => 100 }
  await db.change('insert into endpoint_visits (webhook_id, workspace_id, visit_at) values ($1, $2, $3)', [
    webhookId,
    workspace.id,
    now,
  ])
  expect(await rowsRead(db, 'deliveries', (tx) => claimInTurn(tx, claim))).toBeLessThan(20)
  const conversations = await db.rows<{ webhookId: string; conversation: string }>(
    `select distinct webhook_id as "webhookId", conversation from deliveries where webhook_id = $1
     order by conversation limit 10`,
    [webhookId],
  )
  const long = await db.rows<{ webhookId: string; conversation: string }>(
    'select webhook_id as "webhookId", conversation from deliveries where webhook_id = $1 and position > $2 limit 1',
    [webhookId, count],
  )
  const start = { token: newUuid(), until: now, except: [] }
  const started = rowsRead(db, 'deliveries', (tx) => startWaiting(tx, [...conversations, ...long], now, start))
  expect(await started).toBeLessThan(100)
})
