import { expect, onTestFinished, test } from 'vitest'
import { anyTarget } from '../../../../testing/deliveries.ts'
import { mayIdle } from '../../../../testing/may-idle.ts'
import { eventsOf, newApp, newSender } from '../../../../testing/network-app.ts'
import { serveApi, useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'
import type { Db } from '../../../db/db.ts'
import { newUuid } from '../../../lib/ids.ts'
import { newLogger } from '../../../telemetry/logger.ts'
import { createWebhook } from '../../webhooks/webhooks.ts'
import type { StatusReport } from './status-changes.ts'
import { savePlainStatuses } from './statuses.ts'

const server = useTestServer()

interface Report {
  id: string
  status: string
  /** Seconds after the time at which the messages were created. */
  after?: number
  more?: object
}

/** A number whose app and route the server has cached, and messages that it has sent. */
async function newNumber() {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const phoneNumberId = String(Math.trunc(Math.random() * 1e15))
  const sender = await newSender(server, workspace.id, app.id, phoneNumberId)
  const createdAt = new Date(Math.trunc(server.clock.now().getTime() / 1000) * 1000)
  const post = (reports: readonly Report[], url?: string) => {
    const statuses = reports.map(({ id, status, after = 0, more = {} }) => {
      const timestamp = String(createdAt.getTime() / 1000 + after)
      return { id, status, timestamp, recipient_id: '16505550123', ...more }
    })
    const value = { messaging_product: 'whatsapp', metadata: { phone_number_id: phoneNumberId }, statuses }
    const entry = [{ id: '1', changes: [{ field: 'messages', value }] }]
    return app.post({ object: 'whatsapp_business_account', entry }, url === undefined ? {} : { url })
  }
  const webhook = await createWebhook(server.db, server.clock, server.secretKeys, anyTarget, {
    workspaceId: workspace.id,
    name: 'x',
    url: 'https://example.com/hook',
    events: ['message.sent', 'message.delivered', 'message.read', 'message.failed'],
  })
  // The webhook may be the first for this app, or the first since a change.
  expect(await post([{ id: 'wamid.other', status: 'read' }])).toBe(200)
  await server.db.change('delete from early_statuses')
  return {
    workspace,
    sender,
    webhook,
    createdAt,
    post,
    /** A message as the response to its send request leaves it. */
    async addSent(waMessageId: string): Promise<string> {
      const id = newUuid()
      await server.db.change(
        `with sent as (
           insert into messages (id, workspace_id, sender_id, recipient, status, wa_message_id, created_at, sent_at, key_id,
             type, credits, content)
           select $1, $2, $3, '16505550123', 'sent', $4, $5, $5, id, 'text', 0, '{}' from api_keys where workspace_id = $2)
         insert into message_statuses (message_id, workspace_id, status, occurred_at) values ($1, $2, 'sent', $5)`,
        [id, workspace.id, sender.id, waMessageId, createdAt],
      )
      return id
    },
    look: async (id: string) => (await workspace.call(`/v1/messages/msg_${id}`)).body,
    published: async () =>
      (await eventsOf(server, workspace.id)).map(({ type, data }) => `${type} ${data.wa_message_id}`),
  }
}

test('one statement stores the statuses of many messages with their events and deliveries', async () => {
  const { workspace, post, addSent, published } = await newNumber()
  const ids = Array.from({ length: 10 }, (_, n) => `wamid.one.${n}`)
  for (const id of ids) await addSent(id)
  const reports = ids.flatMap((id) => [
    { id, status: 'delivered', after: 1 },
    { id, status: 'read', after: 2 },
  ])
  expect(await post(reports)).toBe(200)
  expect(await published()).toHaveLength(20)
  // PostgreSQL numbers the transactions, and the statements that write within each.
  const written = await server.db.rows(
    `select 'messages' as what, xmin::text as transaction, cmin::text as statement, count(*) from messages
       where workspace_id = $1 group by 1, 2, 3
     union all select 'statuses', xmin::text, cmin::text, count(*) from message_statuses
       where workspace_id = $1 and status <> 'sent' group by 1, 2, 3
     union all select 'events', xmin::text, cmin::text, count(*) from events where workspace_id = $1 group by 1, 2, 3
     union all select 'deliveries', xmin::text, cmin::text, count(*) from deliveries where workspace_id = $1 group by 1, 2, 3`,
    [workspace.id],
  )
  const transaction = (written[0] as { transaction: string } | undefined)?.transaction
  const by = { transaction, statement: '0' }
  expect(written).toEqual([
    { what: 'messages', ...by, count: 10 },
    { what: 'statuses', ...by, count: 20 },
    { what: 'events', ...by, count: 20 },
    { what: 'deliveries', ...by, count: 20 },
  ])
})

test('the statuses delivered and read, and the price, change no index of messages', async () => {
  const { post, addSent } = await newNumber()
  await addSent('wamid.heap')
  const updates = async () => {
    const row = await server.db.first<{ all: number; heap_only: number }>(
      `select n_tup_upd as all, n_tup_hot_upd as heap_only from pg_stat_user_tables where relname = 'messages'`,
    )
    return row as { all: number; heap_only: number }
  }
  const countedUpTo = (count: number) =>
    until('PostgreSQL has counted the updates', async () => {
      const now = await updates()
      return now.all >= count && now
    })
  const before = await updates()
  const pricing = { pricing_model: 'PMP', type: 'regular', category: 'utility' }
  expect(await post([{ id: 'wamid.heap', status: 'sent', more: { pricing } }])).toBe(200)
  expect(await post([{ id: 'wamid.heap', status: 'delivered', more: { pricing } }])).toBe(200)
  expect(await post([{ id: 'wamid.heap', status: 'read' }])).toBe(200)
  const after = await countedUpTo(before.all + 3)
  expect(after.heap_only - before.heap_only).toBe(after.all - before.all)
})

test('a message that another transaction has locked delays only its own webhook', async () => {
  const { post, addSent, look, published } = await newNumber()
  const locked = await addSent('wamid.locked')
  const free = await addSent('wamid.free')
  let posted: Promise<number> | undefined
  await server.db.transaction(async (tx) => {
    await mayIdle(tx)
    await tx.rows('select 1 from messages where id = $1 for update', [locked])
    posted = post([
      { id: 'wamid.locked', status: 'delivered' },
      { id: 'wamid.free', status: 'delivered' },
    ])
    await until('the other message is stored', async () => (await published()).length === 1)
    expect(await look(free)).toMatchObject({ status: 'delivered' })
    expect(await look(locked)).toMatchObject({ status: 'sent' })
  })
  expect(await posted).toBe(200)
  expect(await look(locked)).toMatchObject({ status: 'delivered' })
  expect((await published()).sort()).toEqual(['message.delivered wamid.free', 'message.delivered wamid.locked'])
})

test('repeated and reordered statuses of the same messages, sent to three processes at once, are each stored once', async () => {
  const { workspace, post, addSent, look, published, createdAt } = await newNumber()
  const others = await Promise.all([0, 1].map(() => serveApi(server, newLogger('silent'))))
  onTestFinished(async () => void (await Promise.all(others.map((other) => other.close()))))
  const urls = [server.url, ...others.map(({ url }) => url)]
  const names = Array.from({ length: 12 }, (_, n) => `wamid.many.${n}`)
  const ids = new Map<string, string>()
  for (const name of names) ids.set(name, await addSent(name))
  const report = { sent: 0, delivered: 1, read: 2 }
  const orders = [
    ['read', 'delivered', 'sent'],
    ['delivered', 'read'],
    ['read'],
    ['sent', 'delivered'],
    ['delivered'],
  ] as const
  const posts = Array.from({ length: 60 }, (_, n) => {
    // Neighbours have the same messages in the opposite order.
    const some = names.filter((_, index) => (index + (n >> 1)) % 3 !== 0)
    const order = orders[n % orders.length] ?? []
    const reports = (n % 2 === 0 ? some : some.toReversed()).flatMap((id) =>
      order.map((status) => ({ id, status, after: report[status] })),
    )
    return post(reports, urls[n % urls.length])
  })
  expect(new Set(await Promise.all(posts))).toEqual(new Set([200]))
  const expected = names.flatMap((name) => [`message.delivered ${name}`, `message.read ${name}`])
  expect((await published()).sort()).toEqual(expected.sort())
  const at = (seconds: number, ms: number) => new Date(createdAt.getTime() + seconds * 1000 + ms).toISOString()
  for (const id of ids.values()) {
    expect(await look(id)).toMatchObject({ status: 'read', delivered_at: at(1, 2), read_at: at(2, 3) })
  }
  const stored = await server.db.rows('select 1 from message_statuses where workspace_id = $1', [workspace.id])
  expect(stored).toHaveLength(names.length * 3)
})

test('several statuses of one message in one webhook, one of them a failure, are published in their order', async () => {
  const { post, addSent, look, published } = await newNumber()
  const id = await addSent('wamid.failed')
  const errors = [{ code: 131026, title: 'Message undeliverable' }]
  await post([
    { id: 'wamid.failed', status: 'failed', after: 1, more: { errors } },
    { id: 'wamid.failed', status: 'delivered', after: 2 },
    { id: 'wamid.failed', status: 'failed', after: 3, more: { errors } },
  ])
  expect(await published()).toEqual(['message.failed wamid.failed', 'message.delivered wamid.failed'])
  expect(await look(id)).toMatchObject({ status: 'delivered', error: null })
})

test('a message that was changed after it was read, and is in its old place again, is not changed by what was decided before', async () => {
  const { sender, workspace, addSent, look } = await newNumber()
  const id = await addSent('wamid.place')
  // PostgreSQL uses the place of an old version again after a vacuum, unless a transaction may still read that version. So a
  // message that is changed again and again has two places in turn, once its page has enough space.
  const places: unknown[] = []
  const changeUntil = (isThere: () => boolean, set: string) =>
    until(
      'the message is in an old place',
      async () => {
        await server.db.change(`update messages set ${set} where id = $1`, [id])
        await server.db.script('vacuum messages')
        places.push((await server.db.first<{ ctid: string }>('select ctid from messages where id = $1', [id]))?.ctid)
        return isThere()
      },
      80_000,
    )
  await changeUntil(() => places.length > 2 && places.at(-1) === places.at(-3), 'sent_at = sent_at')
  const place = places.at(-1)
  const changeMeanwhile = () =>
    changeUntil(() => places.at(-1) === place, `status = 'read', delivered_at = sent_at, read_at = sent_at`)
  const slow: Db = {
    ...server.db,
    async transactionAtOnce(save) {
      await changeMeanwhile()
      return server.db.transactionAtOnce(save)
    },
  }
  const report: StatusReport = {
    messageId: id,
    senderId: sender.id,
    workspaceId: workspace.id,
    waMessageId: 'wamid.place',
    status: 'delivered',
    occurredAt: server.clock.now(),
    error: null,
    recipientUserId: null,
    pricing: null,
  }
  const row = await server.db.first<{ value: number }>('select value from routing_revision')
  expect(await savePlainStatuses(slow, server.clock.now(), [report], row?.value ?? 0)).toEqual([report])
  expect(await look(id)).toMatchObject({ status: 'read' })
})

test('a status is not stored for a number that was moved to another account after it was cached', async () => {
  const { sender, post, addSent, look, published } = await newNumber()
  const id = await addSent('wamid.moved')
  await server.db.change('update senders set phone_number_id = $2 where id = $1', [sender.id, `moved ${sender.id}`])
  expect(
    await post([
      { id: 'wamid.moved', status: 'delivered' },
      { id: 'wamid.unknown', status: 'delivered' },
    ]),
  ).toBe(200)
  expect(await published()).toEqual([])
  expect(await look(id)).toMatchObject({ status: 'sent' })
  expect(await server.db.rows('select 1 from early_statuses where sender_id = $1', [sender.id])).toEqual([])
})

test('a status of another tool is stored in the same webhook as one of ours, each once', async () => {
  const { sender, post, addSent, published } = await newNumber()
  await addSent('wamid.ours')
  const reports = ['wamid.ours', 'wamid.theirs'].map((id) => ({ id, status: 'delivered' }))
  expect(await post(reports)).toBe(200)
  expect(await post(reports)).toBe(200)
  expect(await published()).toEqual(['message.delivered wamid.ours'])
  expect(await server.db.rows('select wa_message_id from early_statuses where sender_id = $1', [sender.id])).toEqual([
    { wa_message_id: 'wamid.theirs' },
  ])
})
