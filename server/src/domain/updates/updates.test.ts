import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { localRules, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { eventsOf, newApp, newSender, type TestApp, text, updateEventsOf } from '../../../testing/network-app.ts'
import { untilReadable } from '../../../testing/open-transaction.ts'
import { useReceivers } from '../../../testing/receiver.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import type { Db } from '../../db/db.ts'
import { withPrefix } from '../../lib/ids.ts'
import { silentLogger } from '../../telemetry/silent-logger.ts'
import { maintenanceSteps } from '../../work.ts'
import { instanceHealth } from '../health/health.ts'
import { beginErasure, eraseDue } from '../privacy/erase.ts'
import { exportPerson } from '../privacy/export.ts'
import { createWebhook } from '../webhooks/webhooks.ts'
import { listUpdates } from './updates.ts'
import { eraseUpdates } from './updates-of-person.ts'

const server = useTestServer()
const delivering = useDeliveryWorker(server)
const newReceiver = useReceivers()

let numbers = 0

async function newShop() {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, String(66_000_000_000 + ++numbers))
  const metadata = { display_phone_number: '15550780001', phone_number_id: sender.phoneNumberId }
  const post = (field: string, value: unknown, entryId = sender.wabaId) =>
    app.post({ object: 'whatsapp_business_account', entry: [{ id: entryId, changes: [{ field, value }] }] })
  return { workspace, app, sender, metadata, post, senderId: withPrefix('snd', sender.id) }
}

const storedOf = (app: TestApp) =>
  server.db.rows<Record<string, unknown>>(
    `select workspace_id, sender_id, field, outcome, paths, webhook from network_updates where app_id = $1 order by id`,
    [app.id],
  )

test('an unknown field is stored as it arrived and published once, however often the network repeats it', async () => {
  const { workspace, app, sender, senderId, metadata } = await newShop()
  const receiver = await newReceiver()
  const input = { workspaceId: workspace.id, name: 'r', url: receiver.url, events: ['network.update'] }
  await createWebhook(server.db, server.clock, server.secretKeys, localRules, input)
  const value = `{"metadata":${JSON.stringify(metadata)},  "calls":[{"id":12345678901234567890,"odd":"\\u0000\\ud800"}]}`
  const webhook = `{"object":"whatsapp_business_account","entry":[{"id":"${sender.wabaId}","time":7,"changes":[{"field":"calls","value":${value}}]}]}`
  for (let time = 0; time < 3; time++) expect(await app.post(webhook)).toBe(200)
  expect(await storedOf(app)).toEqual([
    { workspace_id: workspace.id, sender_id: sender.id, field: 'calls', outcome: 'unknown_field', paths: [], webhook },
  ])
  await delivering.worker.drain()
  const bodies = receiver.received.map(({ body }) => body)
  expect(bodies).toHaveLength(1)
  expect(bodies[0]).toContain('"calls":[{"id":12345678901234567890,"odd":"\\u0000\\ud800"}]')
  const { type, data } = JSON.parse(bodies[0] ?? '')
  expect([type, data.field, data.outcome, data.sender_id]).toEqual([
    'network.update',
    'calls',
    'unknown_field',
    senderId,
  ])
})

test('a webhook that does not subscribe to network.update does not get it', async () => {
  const { workspace, post, metadata } = await newShop()
  const receiver = await newReceiver()
  const input = { workspaceId: workspace.id, name: 'r', url: receiver.url, events: ['message.received'] }
  await createWebhook(server.db, server.clock, server.secretKeys, localRules, input)
  await post('messages', { metadata, messages: [{ ...text('wamid.P'), foo: 1 }] })
  await delivering.worker.drain()
  expect(receiver.received.map(({ body }) => JSON.parse(body).type)).toEqual(['message.received'])
  expect(await updateEventsOf(server, workspace.id)).toMatchObject([
    { data: { field: 'messages', outcome: 'partly_understood', value: { messages: [{ id: 'wamid.P', foo: 1 }] } } },
  ])
})

test('GET /v1/events returns network.update only if it is asked for', async () => {
  const { workspace, post, metadata } = await newShop()
  await post('calls', { metadata, calls: [1] })
  await post('messages', { metadata, messages: [text('wamid.E')] })
  const typesOf = async (query: string) =>
    ((await workspace.call(`/v1/events${query}`)).body as { data: { type: string }[] }).data.map(({ type }) => type)
  await untilReadable(server.db)
  expect(await typesOf('')).toEqual(['message.received'])
  expect(await typesOf('?type=network.update')).toEqual(['network.update'])
  expect(await typesOf('?type=network.update&type=message.received')).toEqual(['network.update', 'message.received'])
  expect(await typesOf('?limit=1')).toEqual(['message.received'])
})

test.each<[string, (metadata: object) => unknown, string, string[], number]>([
  ['calls', (metadata) => ({ metadata, calls: [] }), 'unknown_field', [], 0],
  ['messages', (metadata) => ({ metadata, messages: [{ type: 'text' }] }), 'not_understood', ['messages.0'], 0],
  ['messages', () => 7, 'not_understood', [], 0],
  [
    'messages',
    (metadata) => ({ metadata, messages: [{ ...text('wamid.Q'), foo: 1 }] }),
    'partly_understood',
    ['messages.0.foo'],
    1,
  ],
  ['messages', (metadata) => ({ metadata, errors: [{ code: 1 }] }), 'notice', ['errors.0'], 0],
  ['security', () => ({ event: 'PIN_RESET_REQUEST' }), 'notice', ['event'], 0],
])('%s %# is stored as %s', async (field, value, outcome, paths, messages) => {
  const { workspace, app, post, metadata } = await newShop()
  expect(await post(field, value(metadata))).toBe(200)
  expect(await storedOf(app)).toMatchObject([{ workspace_id: workspace.id, field, outcome, paths }])
  expect(await eventsOf(server, workspace.id)).toHaveLength(messages)
  expect(await updateEventsOf(server, workspace.id)).toHaveLength(1)
})

test('what is understood completely is not stored', async () => {
  const { app, post, metadata } = await newShop()
  await post('messages', { metadata, messages: [text('wamid.R')] })
  await post('phone_number_quality_update', { display_phone_number: '15550780001', event: 'UNFLAGGED' })
  expect(await storedOf(app)).toEqual([])
})

test('messages and updates of a webhook are committed together or not at all', async () => {
  const { workspace, app, post, metadata } = await newShop()
  const value = { metadata, messages: [{ ...text('wamid.T'), foo: 1 }] }
  await server.db.rows(`create function fail() returns trigger language plpgsql as $$ begin raise 'no'; end $$`)
  for (const table of ['network_updates', 'inbound_messages']) {
    await server.db.rows(`create trigger fail before insert on ${table} for each row execute function fail()`)
    expect(await post('messages', value)).toBe(500)
    await server.db.rows(`drop trigger fail on ${table}`)
    expect(await storedOf(app)).toEqual([])
    expect([await eventsOf(server, workspace.id), await updateEventsOf(server, workspace.id)]).toEqual([[], []])
  }
  expect(await post('messages', value)).toBe(200)
  expect(await eventsOf(server, workspace.id)).toHaveLength(1)
  expect(await updateEventsOf(server, workspace.id)).toHaveLength(1)
})

test('changes of an account that is not connected are stored for operators only, without an event', async () => {
  const { workspace, app, post } = await newShop()
  const metadata = { phone_number_id: '404' }
  await post('messages', { metadata, messages: [text('wamid.N')] }, '999')
  await post('calls', { metadata }, '999')
  await post('message_template_status_update', { event: 'APPROVED', message_template_id: 1 }, '999')
  await app.post('{"object":"page","entry":[]}')
  expect((await storedOf(app)).map(({ workspace_id, field, outcome }) => [workspace_id, field, outcome])).toEqual([
    [null, 'messages', 'not_understood'],
    [null, 'calls', 'unknown_field'],
    [null, 'message_template_status_update', 'notice'],
    [null, 'unknown', 'not_understood'],
  ])
  expect(await updateEventsOf(server, workspace.id)).toEqual([])
  const seen = await server.db.within(workspace.id).rows('select 1 from network_updates where app_id = $1', [app.id])
  expect(seen).toEqual([])
})

test('any field that names a number of a connected account that is not synced yet is parked', async () => {
  const { app, post } = await newShop()
  await post('calls', { metadata: { phone_number_id: '405' }, calls: [{}] })
  await post('messaging_handovers', { recipient: { phone_number_id: '405' }, type: 'control_passed' })
  expect(await storedOf(app)).toEqual([])
  const parked = await server.db.rows<{ webhook: string }>(
    `select p.webhook from parked_updates p join connections c on c.id = p.connection_id where c.app_id = $1 order by p.id`,
    [app.id],
  )
  expect(parked.map(({ webhook }) => JSON.parse(webhook).entry[0].changes[0].field)).toEqual([
    'calls',
    'messaging_handovers',
  ])
})

test('metrics count updates by field and outcome, and unknown names as other', async () => {
  const { post, metadata } = await newShop()
  const counted = async () => {
    const all = await (await fetch(`${server.url}/metrics`)).text()
    return all.split('\n').filter((line) => line.startsWith('parley_network_updates_total{'))
  }
  await post('partner_solutions', { metadata, event: 'x' })
  await post('name of a stranger', { metadata })
  const lines = await counted()
  expect(lines).toContain('parley_network_updates_total{field="partner_solutions",outcome="unknown_field"} 1')
  expect(lines.find((line) => line.includes('field="other",outcome="unknown_field"'))).toBeDefined()
  expect(lines.join()).not.toContain('stranger')
})

test('the health checks name the fields that are not understood', async () => {
  const { post, metadata } = await newShop()
  await post('tracking_events', { metadata })
  const { secretKeys, db, clock } = server
  const site = { publicUrl: server.url, trustProxy: [] }
  const { findings } = await instanceHealth(db, clock, { secretKeys, site, mediaBytesPerWorkspace: 1e9 })
  const finding = findings.find(({ check }) => check === 'network updates')
  expect(finding?.verdict).toBe('warning')
  expect(finding?.details.join('\n')).toContain('tracking_events: 1 update unknown_field')
})

test('operators list updates with a count by field, and open one', async () => {
  const { workspace, post, metadata, senderId } = await newShop()
  await post('group_status_update', { metadata, groups: [{ group_id: 'g' }] })
  const operator = await signedIn(server, { operator: true })
  const list = await operator.call('/operator/updates?field=group_status_update')
  expect(list.body).toMatchObject({
    fields: expect.arrayContaining([expect.objectContaining({ field: 'group_status_update', count: 1 })]),
    data: [{ field: 'group_status_update', workspace_id: workspace.id, sender_id: senderId, unread: [] }],
    has_more: false,
  })
  const one = await operator.call(`/operator/updates/${list.body.data[0].id}`)
  expect(one.body).toMatchObject({ object: 'network_update', value: { groups: [{ group_id: 'g' }] } })
  expect((await operator.call('/operator/updates/upd_0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d')).status).toBe(404)
})

test('an erasure removes a person from updates and their events, and keeps what is about others', async () => {
  const { workspace, app, post, metadata } = await newShop()
  const [ana, bea] = ['16505551001', '16505551002']
  await post('calls', { metadata, contacts: [{ wa_id: ana }, { wa_id: bea }], calls: [{ from: ana }, { from: bea }] })
  await post('messaging_handovers', {
    recipient: { phone_number_id: metadata.phone_number_id },
    sender: { phone_number: `+${ana}` },
  })
  await post('calls', { metadata, calls: [{ from: bea }] })
  const pieces: string[] = []
  for await (const piece of exportPerson(server.db, server.clock, workspace.id, { number: ana })) pieces.push(piece)
  const exported = JSON.parse(pieces.join(''))
  expect(
    exported.network_updates.map(({ webhook }: { webhook: { entry: unknown } }) => JSON.stringify(webhook.entry)),
  ).toEqual([expect.stringContaining(ana), expect.stringContaining(ana)])
  expect(JSON.stringify(exported.network_updates)).not.toContain(bea)
  expect(exported.events).toHaveLength(2)
  await beginErasure(server.db, server.clock, { workspaceId: workspace.id, person: { number: ana }, askedBy: 'test' })
  await eraseDue(server.db, server.clock, silentLogger)
  const left = await storedOf(app)
  expect(left.map(({ webhook }) => JSON.parse(String(webhook)).entry[0].changes[0].value.calls)).toEqual([
    [{ from: bea }],
    [{ from: bea }],
  ])
  expect(JSON.stringify([left, await updateEventsOf(server, workspace.id)])).not.toContain(ana)
  expect(await updateEventsOf(server, workspace.id)).toHaveLength(1)
})

test.each([
  ['a JSON number', 16505551021],
  ['an address', '16505551021@s.whatsapp.net'],
  ['a number with separators', '+1 650-555-1021'],
  ['the name of a member', { '16505551021': 1 }],
])('an erasure finds a person in updates and events by %s, and no longer number', async (_name, caller) => {
  const { workspace, app, post, metadata } = await newShop()
  const longer = [{ caller: 165055510210 }, { caller: '1165 0555-1021@s.whatsapp.net' }]
  await post('calls', { metadata, calls: [{ caller }] })
  await post('calls', { metadata, calls: longer })
  const person = { number: '16505551021' }
  await beginErasure(server.db, server.clock, { workspaceId: workspace.id, person, askedBy: 'test' })
  await eraseDue(server.db, server.clock, silentLogger)
  const left = await storedOf(app)
  expect(left.map(({ webhook }) => JSON.parse(String(webhook)).entry[0].changes[0].value.calls)).toEqual([longer])
  expect(await updateEventsOf(server, workspace.id)).toMatchObject([{ data: { value: { calls: longer } } }])
})

test('an export reads updates and their events in pages, and a list reads no webhooks', async () => {
  const { workspace, post, metadata } = await newShop()
  const from = '16505551031'
  for (let call = 0; call < 45; call++) await post('calls', { metadata, calls: [{ from, call }] })
  const read: { rows: number; webhooks: number }[] = []
  const db: Db = Object.assign(Object.create(server.db), {
    async rows(text: string, values: unknown[]) {
      const rows = await server.db.rows(text, values)
      read.push({ rows: rows.length, webhooks: rows.filter((row) => JSON.stringify(row).includes(from)).length })
      return rows
    },
  })
  const pieces: string[] = []
  for await (const piece of exportPerson(db, server.clock, workspace.id, { number: from })) pieces.push(piece)
  const { network_updates, events } = JSON.parse(pieces.join(''))
  expect([network_updates.length, events.length]).toEqual([45, 45])
  expect(
    events.map(({ data }: { data: { value: { calls: { call: number }[] } } }) => data.value.calls[0]?.call),
  ).toEqual([...Array(45).keys()])
  expect(Math.max(...read.map(({ webhooks }) => webhooks))).toBe(20)
  read.length = 0
  await listUpdates(db, { workspaceId: workspace.id }, 50)
  expect(read).toEqual([{ rows: 45, webhooks: 0 }])
})

test('two erasures at the same time both remove their person from an update', async () => {
  const { workspace, app, post, metadata } = await newShop()
  const [ana, bea, cleo] = ['16505551011', '16505551012', '16505551013']
  await post('calls', { metadata, calls: [{ from: ana }, { from: bea }, { from: cleo }] })
  const erase = (tx: Db, number: string) =>
    eraseUpdates(tx, workspace.id, { isNumber: true, numbers: [number], userIds: [] })
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'network_updates'`
  let second: Promise<number> | undefined
  await server.db.transaction(async (tx) => {
    await erase(tx, ana)
    second = server.db.transaction((other) => erase(other, bea))
    await until('the second one waits', async () => (await server.db.rows(waiting)).length > 0)
  })
  expect(await second).toBe(1)
  const [update] = await storedOf(app)
  expect(JSON.parse(String(update?.webhook)).entry[0].changes[0].value.calls).toEqual([{ from: cleo }])
})

test('maintenance deletes updates that are older than the retention', async () => {
  const { app, post, metadata } = await newShop()
  await post('calls', { metadata, calls: ['old'] })
  await server.db.change(`update network_updates set id = '00000000-0000-7000-8000-000000000001' where app_id = $1`, [
    app.id,
  ])
  await post('calls', { metadata, calls: ['new'] })
  const { deleteOldUpdates } = await import('./updates.ts')
  await deleteOldUpdates(server.db, server.clock.now(), 30)
  expect(
    (await storedOf(app)).map(({ webhook }) => JSON.parse(String(webhook)).entry[0].changes[0].value.calls),
  ).toEqual([['new']])
  expect(maintenanceSteps(server.runtime).map(({ name }) => name)).toContain('reread updates')
})
