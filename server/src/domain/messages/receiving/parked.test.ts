import { expect, test } from 'vitest'
import { localRules, useDeliveryWorker } from '../../../../testing/deliveries.ts'
import { eventsOf, signatureOf, text } from '../../../../testing/network-app.ts'
import { useReceivers } from '../../../../testing/receiver.ts'
import { type TestAccount, useSimulator } from '../../../../testing/simulated-network.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'
import { openDatabase } from '../../../db/db.ts'
import { newUuid } from '../../../lib/ids.ts'
import { newLogger } from '../../../telemetry/logger.ts'
import type { CallFailure } from '../../../whatsapp/graph/call.ts'
import { createApp, ingressPath } from '../../connections/apps.ts'
import { createConnection, requireConnection } from '../../connections/connections.ts'
import { deleteOldParked, parkUpdates } from '../../connections/parked.ts'
import { drainSyncs, syncConnection, waitIfParked } from '../../connections/sync.ts'
import { createWebhook } from '../../webhooks/webhooks.ts'
import { releaseParked } from './release-parked.ts'

const server = useTestServer()
const network = useSimulator(server)
// Production timeouts: on a busy machine shorter ones cause retries, and these tests count each delivery.
const delivering = useDeliveryWorker(server, { deadlineMs: 10_000, bodyDeadlineMs: 10_000 })
const newReceiver = useReceivers()
const log = () => newLogger('debug', { write: (line) => void server.logged.push(line) })

/** A connected account whose first sync succeeds or fails, an endpoint, and functions that post webhooks as the network. */
async function connectAccount({ firstSync = 'ok' }: { firstSync?: 'ok' | CallFailure } = {}) {
  const { db, clock, secretKeys } = server
  const workspace = await newWorkspace(server)
  const account = network.newAccount()
  const { appSecret, wabaId, token } = account
  const graph = { name: 'app', appSecret, verifyToken: 'verify-me', graphUrl: network.simulator.url }
  const app = await createApp(db, clock, secretKeys, graph)
  const input = { workspaceId: workspace.id, appId: app.id, wabaId, accessToken: token }
  const { connection, sync } = await createConnection(networkWith(firstSync), input)
  expect(sync.kind).toBe(firstSync === 'ok' ? 'synced' : 'failed')
  const receiver = await newReceiver()
  const events = ['message.received', 'message.delivered', 'flow.completed']
  await createWebhook(db, clock, secretKeys, localRules, {
    workspaceId: workspace.id,
    name: 'r',
    url: receiver.url,
    events,
  })
  const post = async (body: object) => {
    const bytes = JSON.stringify(body)
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf(appSecret, bytes) }
    const response = await fetch(server.url + ingressPath(app.id), { method: 'POST', headers, body: bytes })
    await response.arrayBuffer()
    return response.status
  }
  const change = (phoneNumberId: string, value: object) => ({
    field: 'messages',
    value: { messaging_product: 'whatsapp', metadata: { phone_number_id: phoneNumberId }, ...value },
  })
  return {
    workspace,
    account,
    app,
    connection,
    receiver,
    post,
    change,
    /** Posts a webhook with one change for a number. */
    postChange: (phoneNumberId: string, value: object, entryId = wabaId) =>
      post({ object: 'whatsapp_business_account', entry: [{ id: entryId, changes: [change(phoneNumberId, value)] }] }),
    /** The bodies that the endpoint received, in the order of arrival. */
    async delivered() {
      await delivering.worker.drain()
      return receiver.received.map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> })
    },
    parked: () =>
      db.rows<{ phone_number_id: string }>('select phone_number_id from parked_updates where connection_id = $1', [
        connection.id,
      ]),
    look: () => requireConnection(db, connection.id),
  }
}

const unavailable: CallFailure = { kind: 'unreachable', why: 'ECONNREFUSED' }

/** The network. With a failure as `outcome`, listing templates fails. */
function networkWith(outcome: 'ok' | CallFailure) {
  if (outcome === 'ok') return network.network
  const { client: real } = network.network
  const client = Object.create(real) as typeof real
  client.listPhoneNumbers = real.listPhoneNumbers.bind(real)
  client.subscribeApp = real.subscribeApp.bind(real)
  client.listSubscribedApps = real.listSubscribedApps.bind(real)
  client.inspectToken = real.inspectToken.bind(real)
  client.listTemplates = async () => outcome
  return { ...network.network, client }
}

const drainWith = (outcome: 'ok' | CallFailure) => drainSyncs(networkWith(outcome), log())

let phones = 0
/** Adds a number to the account. */
const addNumber = (account: TestAccount): string =>
  network.control.numbers.create({
    wabaId: account.wabaId,
    phoneNumber: String(15_552_000_000 + ++phones),
    verifiedName: `New ${phones}`,
  }).id

const release = (db = server.db) =>
  releaseParked({ db, clock: server.clock, log: log(), publicUrl: 'http://parley.test' })
const seconds = (from: Date) => (from.getTime() - server.clock.now().getTime()) / 1000
const loggedEvents = (name: string) =>
  server.logged.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ event }) => event === name)

test('a message for a number that was added after the sync starts a sync and is delivered once', async () => {
  const shop = await connectAccount()
  server.clock.forward({ minutes: 5 })
  const number = addNumber(shop.account)
  expect(await shop.postChange(number, { messages: [text('wamid.NEW')] })).toBe(200)
  expect(await eventsOf(server, shop.workspace.id)).toEqual([])
  expect(await network.drain()).toBe(1)
  await release()
  await release()
  expect(await shop.delivered()).toMatchObject([{ type: 'message.received', data: { wa_message_id: 'wamid.NEW' } }])
  expect(await shop.parked()).toEqual([])
  expect(await shop.postChange(number, { messages: [text('wamid.NEXT')] })).toBe(200)
  expect((await shop.delivered()).map(({ data }) => data.wa_message_id)).toEqual(['wamid.NEW', 'wamid.NEXT'])
})

test.each([
  ['cannot be reached', unavailable],
  [
    'refuses the token',
    {
      kind: 'refused',
      status: 401,
      error: { code: 190, title: 'x', message: 'x', details: null },
      isTransient: false,
      retryAfterMs: null,
    },
  ],
] as [string, CallFailure][])(
  '60 messages that arrive in a minute in which the network %s are all delivered, in order',
  async (_, failure) => {
    const shop = await connectAccount({ firstSync: failure })
    const number = network.control.numbers.list().find(({ wabaId }) => wabaId === shop.account.wabaId)?.id ?? ''
    let syncs = 0
    for (let n = 0; n < 60; n++) {
      expect(await shop.postChange(number, { messages: [text(`wamid.${n}`)] })).toBe(200)
      server.clock.forward({ seconds: 1 })
      syncs += await drainWith(failure)
    }
    expect(syncs).toBe(4)
    expect(seconds((await shop.look()).syncDueAt)).toBeLessThanOrEqual(15)
    server.clock.forward({ seconds: 15 })
    await network.drain()
    await release()
    const ids = Array.from({ length: 60 }, (_each, n) => `wamid.${n}`)
    const events = await eventsOf(server, shop.workspace.id)
    expect(events.map(({ data }) => data.wa_message_id)).toEqual(ids)
    expect((await shop.delivered()).map(({ data }) => data.wa_message_id).sort()).toEqual([...ids].sort())
  },
)

test('a webhook that the network repeats while it is parked is stored once and published once', async () => {
  const shop = await connectAccount()
  const number = addNumber(shop.account)
  const value = { messages: [text('wamid.A'), text('wamid.B')] }
  expect(await Promise.all(Array.from({ length: 20 }, () => shop.postChange(number, value)))).toEqual(
    Array(20).fill(200),
  )
  expect(await shop.parked()).toHaveLength(1)
  // The same message in another batch is another update, and still one event.
  await shop.postChange(number, { messages: [text('wamid.B'), text('wamid.C')] })
  server.clock.forward({ seconds: 3 })
  await network.drain()
  await release()
  expect(await shop.postChange(number, value)).toBe(200)
  const received = (await shop.delivered()).map(({ data }) => data.wa_message_id)
  expect(received.sort()).toEqual(['wamid.A', 'wamid.B', 'wamid.C'])
})

test('processes that release at the same time publish each update once, in order', async () => {
  const shop = await connectAccount()
  const number = addNumber(shop.account)
  const ids = Array.from({ length: 350 }, (_, n) => `wamid.${n}`)
  for (const id of ids) await shop.postChange(number, { messages: [text(id)] })
  server.clock.forward({ seconds: 3 })
  await network.drain()
  const dbs = [1, 2, 3].map(() => openDatabase(server.connection, () => {}, 2))
  await Promise.all([release(), ...dbs.map((db) => release(db))])
  await release()
  await Promise.all(dbs.map((db) => db.close()))
  const events = await eventsOf(server, shop.workspace.id)
  expect(events.map(({ data }) => data.wa_message_id).sort()).toEqual([...ids].sort())
  const rows = await server.db.rows<{ wa_message_id: string }>(
    'select wa_message_id from inbound_messages where workspace_id = $1 order by id',
    [shop.workspace.id],
  )
  expect(rows.map((row) => row.wa_message_id)).toEqual(ids)
  expect(await shop.parked()).toEqual([])
})

test('an update for an account that is not connected through the app gets 200 and is dropped', async () => {
  const shop = await connectAccount()
  const other = await connectAccount()
  const before = await shop.look()
  expect(await shop.postChange('106549999999999', { messages: [text('wamid.X')] }, '999')).toBe(200)
  expect(await shop.postChange('106549999999999', { messages: [text('wamid.X')] }, other.account.wabaId)).toBe(200)
  expect([await shop.parked(), await other.parked()]).toEqual([[], []])
  expect((await shop.look()).syncDueAt).toEqual(before.syncDueAt)
})

test('messages, statuses, a form and a cart of one parked webhook are published; known numbers are not delayed', async () => {
  const shop = await connectAccount()
  const known = network.control.numbers.list().find(({ wabaId }) => wabaId === shop.account.wabaId)?.id ?? ''
  const number = addNumber(shop.account)
  const cart = {
    catalog_id: '1',
    product_items: [{ product_retailer_id: 'A', quantity: 2, item_price: 3, currency: 'EUR' }],
  }
  const form = { name: 'flow', body: 'Sent', response_json: '{"flow_token":"t","answer":"42"}' }
  const value = {
    contacts: [{ profile: { name: 'Ana' }, wa_id: '16505550123' }],
    messages: [
      text('wamid.TEXT'),
      { ...text('wamid.FORM'), type: 'interactive', interactive: { type: 'nfm_reply', nfm_reply: form } },
      { ...text('wamid.CART'), type: 'order', order: cart },
    ],
    statuses: [{ id: 'wamid.OUT', status: 'delivered', timestamp: '1786000001', recipient_id: '16505550123' }],
  }
  const changes = [shop.change(number, value), shop.change(known, { messages: [text('wamid.KNOWN')] })]
  const body = { object: 'whatsapp_business_account', entry: [{ id: shop.account.wabaId, changes }] }
  expect(await shop.post(body)).toBe(200)
  expect((await shop.delivered()).map(({ data }) => data.wa_message_id)).toEqual(['wamid.KNOWN'])
  server.clock.forward({ seconds: 3 })
  await network.drain()
  // The message that the status is about was sent from the number before its status is released.
  const [sender] = await server.db.rows<{ id: string }>('select id from senders where phone_number_id = $1', [number])
  await server.db.change(
    `insert into messages (id, workspace_id, sender_id, recipient, status, wa_message_id, created_at, key_id, type, credits,
       content)
     select $1, $2, $3, '16505550123', 'sent', 'wamid.OUT', $4, id, 'text', 0, '{}' from api_keys where workspace_id = $2`,
    [newUuid(), shop.workspace.id, sender?.id, server.clock.now()],
  )
  await release()
  const events = (await eventsOf(server, shop.workspace.id)).map(({ type, data }) => [type, data.wa_message_id])
  expect(events.slice(1)).toEqual([
    ['message.received', 'wamid.TEXT'],
    ['message.received', 'wamid.FORM'],
    ['message.received', 'wamid.CART'],
    ['flow.completed', undefined],
    ['message.delivered', 'wamid.OUT'],
  ])
  expect(await server.db.rows('select 1 from orders where workspace_id = $1', [shop.workspace.id])).toHaveLength(1)
  expect(await shop.delivered()).toHaveLength(6)
})

test('updates that were parked when the process stopped are released by the next one', async () => {
  const shop = await connectAccount()
  const number = addNumber(shop.account)
  await shop.postChange(number, { messages: [text('wamid.A')] })
  server.clock.forward({ seconds: 3 })
  // The sync ends, and the process stops before it releases any update.
  await network.drain()
  expect(await eventsOf(server, shop.workspace.id)).toEqual([])
  const db = openDatabase(server.connection, () => {}, 2)
  expect(await release(db)).toBe(1)
  await db.close()
  expect((await eventsOf(server, shop.workspace.id)).map(({ data }) => data.wa_message_id)).toEqual(['wamid.A'])
})

test('an update that is parked just after its number became known is released by the next poll', async () => {
  const shop = await connectAccount()
  const number = addNumber(shop.account)
  // The update was routed before the sync and is committed after it.
  const webhook = { id: shop.account.wabaId, changes: [shop.change(number, { messages: [text('wamid.LATE')] })] }
  const update = {
    appId: shop.app.id,
    wabaId: shop.account.wabaId,
    phoneNumberId: number,
    webhook: JSON.stringify({ object: 'whatsapp_business_account', entry: [webhook] }),
  }
  await syncConnection(network.network, shop.connection.id)
  await server.db.transaction((tx) => parkUpdates(tx, server.clock.now(), [update]))
  expect(await release()).toBe(1)
  expect((await eventsOf(server, shop.workspace.id)).map(({ data }) => data.wa_message_id)).toEqual(['wamid.LATE'])
})

test('a number that the account does not list is synced at growing intervals, and published when it is listed', async () => {
  const shop = await connectAccount()
  server.clock.forward({ minutes: 5 })
  const unlisted = '106549000000001'
  const before = shop.account.calls('phone_numbers')
  const logged = loggedEvents('sync.numbers_not_listed').length
  const waits: number[] = []
  for (let n = 0; n < 8; n++) {
    await shop.postChange(unlisted, { messages: [text(`wamid.${n}`)] })
    await network.drain()
    waits.push(seconds((await shop.look()).syncDueAt))
    server.clock.forward({ seconds: waits[n] ?? 0 })
  }
  expect(waits).toEqual([15, 30, 60, 120, 240, 480, 900, 900])
  expect(shop.account.calls('phone_numbers') - before).toBe(8)
  expect(loggedEvents('sync.numbers_not_listed').slice(logged)).toHaveLength(8)
  expect(loggedEvents('sync.numbers_not_listed').at(-1)).toMatchObject({
    connection_id: shop.connection.id,
    phone_number_ids: [unlisted],
    numbers: 1,
    updates: 8,
  })

  // Another unknown number does not wait for the interval of the first.
  await network.drain()
  server.clock.forward({ seconds: 20 })
  const second = addNumber(shop.account)
  await shop.postChange(second, { messages: [text('wamid.SECOND')] })
  await network.drain()
  await release()
  expect((await eventsOf(server, shop.workspace.id)).map(({ data }) => data.wa_message_id)).toEqual(['wamid.SECOND'])
  expect(seconds((await shop.look()).syncDueAt)).toBe(30)

  network.control.numbers.create({ id: unlisted, wabaId: shop.account.wabaId, phoneNumber: '15553000001' })
  server.clock.forward({ seconds: 30 })
  await network.drain()
  await release()
  expect(await eventsOf(server, shop.workspace.id)).toHaveLength(9)
  expect(seconds((await shop.look()).syncDueAt)).toBe(21_600)
})

test('many unknown numbers of one account cause few syncs', async () => {
  const shop = await connectAccount()
  server.clock.forward({ minutes: 5 })
  const before = shop.account.calls('phone_numbers')
  for (let n = 0; n < 60; n++) {
    await shop.postChange(`10654800000${100 + n}`, { messages: [text(`wamid.${n}`)] })
    await network.drain()
    server.clock.forward({ seconds: 1 })
  }
  expect(shop.account.calls('phone_numbers') - before).toBeLessThanOrEqual(5)
  expect(await shop.parked()).toHaveLength(60)
})

test('the network’s Retry-After is respected while updates are parked', async () => {
  const pause: CallFailure = {
    kind: 'refused',
    status: 400,
    error: { code: 80007, title: 'x', message: 'x', details: null },
    isTransient: true,
    retryAfterMs: 300_000,
  }
  const shop = await connectAccount({ firstSync: pause })
  const before = shop.account.calls('phone_numbers')
  for (let n = 0; n < 29; n++) {
    await shop.postChange(`1065470000000${10 + n}`, { messages: [text(`wamid.${n}`)] })
    server.clock.forward({ seconds: 10 })
    await drainWith(pause)
  }
  expect(shop.account.calls('phone_numbers')).toBe(before)
  server.clock.forward({ seconds: 10 })
  await drainWith(pause)
  expect(shop.account.calls('phone_numbers')).toBe(before + 1)
  expect(seconds((await shop.look()).syncDueAt)).toBe(300)
})

test('while updates are parked a failed sync is repeated after 15 s, and after repeated refusals every 5 minutes', () => {
  const refused = (retryAfterMs: number | null): CallFailure => ({
    kind: 'refused',
    status: 401,
    error: { code: 190, title: 'x', message: 'x', details: null },
    isTransient: false,
    retryAfterMs,
  })
  expect([1, 50].map((failures) => waitIfParked(failures, unavailable) / 1000)).toEqual([15, 15])
  expect([1, 8, 9, 12, 13, 50].map((failures) => waitIfParked(failures, refused(null)) / 1000)).toEqual([
    15, 15, 30, 240, 300, 300,
  ])
  expect(waitIfParked(1, refused(90_000))).toBe(90_000)
})

test('a sync that died with its process is repeated within a minute while updates are parked', async () => {
  const shop = await connectAccount()
  server.clock.forward({ minutes: 5 })
  const number = addNumber(shop.account)
  await shop.postChange(number, { messages: [text('wamid.A')] })
  const { client, ...rest } = network.network
  const dying = Object.create(client) as typeof client
  dying.listPhoneNumbers = () => Promise.reject(new Error('killed'))
  dying.listTemplates = () => Promise.reject(new Error('killed'))
  await drainSyncs({ ...rest, client: dying }, log())
  expect(seconds((await shop.look()).syncDueAt)).toBe(60)
  server.clock.forward({ minutes: 1 })
  await network.drain()
  await release()
  expect(await eventsOf(server, shop.workspace.id)).toHaveLength(1)
})

test('an update that cannot be published is postponed, and the updates after it are published', async () => {
  const shop = await connectAccount()
  const number = addNumber(shop.account)
  for (const id of ['wamid.A', 'wamid.BROKEN', 'wamid.C']) await shop.postChange(number, { messages: [text(id)] })
  await server.db.change(`update parked_updates set webhook = 'broken' where webhook like '%wamid.BROKEN%'`)
  server.clock.forward({ seconds: 3 })
  await network.drain()
  await release()
  const ids = (await eventsOf(server, shop.workspace.id)).map(({ data }) => data.wa_message_id)
  expect(ids).toEqual(['wamid.A', 'wamid.C'])
  expect(await shop.parked()).toHaveLength(1)
  expect(loggedEvents('parked_updates.release_failed').length).toBe(1)
  await release()
  expect(loggedEvents('parked_updates.release_failed').length).toBe(1)
  server.clock.forward({ minutes: 5 })
  await release()
  expect(loggedEvents('parked_updates.release_failed').length).toBe(2)
})

test('updates that are parked for longer than the retention are deleted, with one line in the log', async () => {
  const shop = await connectAccount()
  await shop.postChange('106549000000002', { messages: [text('wamid.A')] })
  await shop.postChange('106549000000002', { messages: [text('wamid.B')] })
  const deleteOld = () => deleteOldParked(server.db, log(), server.clock.now(), 30)
  server.clock.forward({ hours: 29 * 24 })
  await deleteOld()
  expect(await shop.parked()).toHaveLength(2)
  server.clock.forward({ hours: 2 * 24 })
  await deleteOld()
  await deleteOld()
  expect(await shop.parked()).toEqual([])
  const [line, ...more] = loggedEvents('parked_updates.expired')
  expect([line?.updates, more]).toEqual([expect.any(Number), []])
  expect(Number(line?.updates)).toBeGreaterThanOrEqual(2)
})
