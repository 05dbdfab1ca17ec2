import { createHash } from 'node:crypto'
import type { Erasure } from '@parley/contract/console/erasures'
import type { ListedMessage, MessageDetail } from '@parley/contract/console/messages'
import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { fileOf, useForms } from '../../../testing/forms.ts'
import { eventsOf, newApp, newSender, text, webhookOf } from '../../../testing/network-app.ts'
import { passSteadyDays } from '../../../testing/pass-days.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { moveLimits, moveOlderMessages } from '../messages/receiving/older-messages.ts'
import { removeOldContents } from './content-retention.ts'
import { eraseDue } from './erase.ts'
import { exportPerson } from './export.ts'

const server = useTestServer()
const forms = useForms(server)
const quiet = newLogger('silent')

let people = 0
const newPhone = () => String(16_505_591_000 + ++people)

const erase = () => eraseDue(server.db, server.clock, quiet)

/** Everything in the tables that have a workspace, as text. */
async function storedText(workspaceId: string): Promise<Record<string, string>> {
  const tables = await server.db.rows<{ name: string }>(
    `select c.table_name as name from information_schema.columns c join pg_class t on t.relname = c.table_name
     where c.column_name = 'workspace_id' and c.table_schema = current_schema() and t.relkind in ('r', 'p')
       and not t.relispartition and t.relname !~ '_older_\\d+$'`,
  )
  const stored: Record<string, string> = {}
  for (const { name } of tables) {
    const rows = await server.db.rows<{ row: Record<string, unknown> }>(
      `select to_json(t) as row from ${name} t where workspace_id = $1`,
      [workspaceId],
    )
    stored[name] = rows.map(({ row }) => Object.values(row).map(readable).join(' ')).join('\n')
  }
  return stored
}

/** Bytes are written as hex in JSON. */
function readable(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex').toString('latin1') : text
}

/** The tables that have a text, even if WhatsApp's ID of a message contains it. */
function tablesWith(stored: Readonly<Record<string, string>>, text: string): string[] {
  const decoded = (all: string) =>
    all.replaceAll(
      /wamid\.([A-Za-z0-9+/=]+)/g,
      (id, base64) => `${id} ${Buffer.from(base64, 'base64').toString('latin1')}`,
    )
  return Object.entries(stored).flatMap(([name, all]) => (decoded(all).includes(text) ? [name] : []))
}

/** A person who wrote, got messages, filled in a form with a file and ordered. */
async function newConversation() {
  const shop = await forms.newShop()
  const phone = newPhone()
  const { phones } = forms.sending.network.control
  const admin = await signedIn(server, { workspaceId: shop.workspace.id, role: 'admin' })
  await admin.call(`/w/${shop.workspace.id}/webhooks`, {
    method: 'POST',
    body: { name: 'crm', url: 'https://127.0.0.1:9/hook', events: ['message.received', 'message.sent'] },
  })
  const sent = await shop.sendText(phone, { text: { body: 'secret offer' }, reference: 'secret order' })
  await forms.sending.drain()
  await phones.say(phone, { to: shop.account.phoneNumber, text: 'secret question' })
  await shop.sendForm(phone, 'secret-token')
  const form = await shop.fillForm(phone, {
    values: { note: 'secret answer' },
    files: {
      photos: [
        { base64: Buffer.from('secret bytes').toString('base64'), filename: 'secret.jpg', mimeType: 'image/jpeg' },
      ],
    },
  })
  await forms.fetcher.drain()
  const call = (path: string, options = {}) => admin.call(`/w/${shop.workspace.id}/${path}`, options)
  return { shop, phone, phones, admin, call, sent, form }
}

/** Without the events about templates. */
const messageEventsOf = async (workspaceId: string) =>
  (await eventsOf(server, workspaceId)).filter(({ type }) => type.startsWith('message.'))

test('an admin erases a person: nothing that identifies them or that they wrote is left, statuses and credits are', async () => {
  const { shop, phone, phones, call, sent, form } = await newConversation()
  const { workspace } = shop
  const other = newPhone()
  await phones.say(other, { to: shop.account.phoneNumber, text: 'of another person' })
  const before = await shop.look(sent.id)
  const balance = (await call('credits')).body
  const stored = await storedText(workspace.id)
  expect(tablesWith(stored, 'secret')).toEqual(
    expect.arrayContaining(['messages', 'inbound_messages', 'flow_responses']),
  )
  expect(tablesWith(stored, phone)).toEqual(expect.arrayContaining(['events', 'flow_tokens', 'messages']))

  const asked = await call('erasures', { method: 'POST', body: { phone: `+${phone}` } })
  expect([asked.status, asked.body]).toMatchObject([202, { ended_at: null, removed: {} }])
  await erase()
  const erased = (await call('erasures')).body.data as Erasure[]
  expect(erased).toMatchObject([
    { id: asked.body.id, removed: { messages: 2, inbound_messages: 2, flow_responses: 1, files: 1 } },
  ])
  expect(erased[0]?.ended_at).not.toBeNull()

  const after = await storedText(workspace.id)
  expect(tablesWith(after, 'secret')).toEqual([])
  expect(tablesWith(after, phone)).toEqual([])
  expect(tablesWith(after, other)).toEqual(expect.arrayContaining(['events', 'inbound_messages']))
  expect((await messageEventsOf(workspace.id)).map(({ type }) => type)).toEqual(['message.received'])
  expect(after.deliveries?.split('\n')).toHaveLength(1)
  expect((await call('credits')).body).toEqual(balance)
  expect(await shop.look(sent.id)).toEqual({
    ...before,
    to: null,
    to_user_id: null,
    reference: null,
    wa_message_id: null,
  })
  expect((await workspace.call(`/v1/flow_responses/${form.id}`)).body).toMatchObject({ from: null, response: null })
  expect((await workspace.call(fileOf(form.id))).status).toBe(410)
  const { data } = (await call('messages')).body as { data: ListedMessage[] }
  expect(data).toHaveLength(5)
  for (const { id } of data) {
    const { status, body } = await call(`messages/${id}`)
    expect(status).toBe(200)
    const isOther = (body as MessageDetail).phone === other
    expect((body as MessageDetail).removed?.why ?? null).toBe(isOther ? null : 'erasure')
  }
})

test('what the person writes afterwards arrives as from a new person, and a late status brings nothing back', async () => {
  const { shop, phone, phones, call } = await newConversation()
  const { control } = forms.sending.network
  control.switches.set({ readAfterMs: 600_000 })
  const late = await shop.sendText(phone)
  await forms.sending.drain()
  expect((await shop.look(late.id)).status).toBe('delivered')
  await call('erasures', { method: 'POST', body: { phone } })
  await erase()
  await phones.read(phone, { to: shop.account.phoneNumber })
  await control.idle()
  control.switches.set({ readAfterMs: 0 })
  expect(await shop.look(late.id)).toMatchObject({ status: 'read', to: null, to_user_id: null, wa_message_id: null })
  expect(await messageEventsOf(shop.workspace.id)).toMatchObject([
    { type: 'message.read', data: { message_id: late.id, to: null, to_user_id: null, wa_message_id: null } },
  ])
  expect(tablesWith(await storedText(shop.workspace.id), phone)).toEqual([])

  await phones.say(phone, { to: shop.account.phoneNumber, text: 'hello again' })
  await control.idle()
  const { data } = (await call(`messages?phone=${phone}`)).body as { data: ListedMessage[] }
  expect(data).toMatchObject([{ phone, preview: 'hello again', removed: null }])
})

test('it is refused while a message to the person is not sent yet, and nothing is changed', async () => {
  const { shop, phone, call, sent } = await newConversation()
  await shop.sendText(phone)
  const before = await shop.look(sent.id)
  const refused = await call('erasures', { method: 'POST', body: { phone } })
  expect([refused.status, refused.body.error.message]).toEqual([
    409,
    'A message to this person is not sent yet. Wait until each is sent or has failed, at most 25 hours, then erase again.',
  ])
  await erase()
  expect(await shop.look(sent.id)).toEqual(before)
  expect((await call('erasures')).body.data).toEqual([])
  await forms.sending.drain()
  expect((await call('erasures', { method: 'POST', body: { phone } })).status).toBe(202)
})

test('a message that was accepted while the erasure began is sent first, and erased then', async () => {
  const { shop, phone, call } = await newConversation()
  await call('erasures', { method: 'POST', body: { phone } })
  const { id } = await shop.sendText(phone, { text: { body: 'secret, just accepted' } })
  await erase()
  expect((await call('erasures')).body.data).toMatchObject([{ ended_at: null, removed: { messages: 2 } }])
  await forms.sending.drain()
  expect(shop.taken(phone).map(({ ourId }) => ourId)).toContain(id)
  server.clock.forward({ seconds: 10 })
  await erase()
  expect((await call('erasures')).body.data).toMatchObject([{ ended_at: expect.any(String), removed: { messages: 3 } }])
  expect(tablesWith(await storedText(shop.workspace.id), 'secret')).toEqual([])
})

test('a request that is repeated with its Idempotency-Key after the erasure sends nothing', async () => {
  const { shop, phone, call } = await newConversation()
  const body = { to: phone, type: 'text', text: { body: 'once' }, reference: 'secret ref' }
  const other = newPhone()
  const keys = [`Quincy-${phone}9`, `copy-of:${phone}`, `to${phone}x`, `welcome-${phone}9`]
  // The client tries to take what replaces a key.
  keys.push(`erased:${createHash('sha256').update(`copy-of:${phone}`).digest('hex')}`)
  const first = await shop.send(body, { 'idempotency-key': keys[0] ?? '' })
  for (const key of keys.slice(1)) await shop.send({ ...body, to: other, reference: 'x' }, { 'idempotency-key': key })
  await forms.sending.drain()
  const count = shop.taken(phone).length
  const exported = JSON.parse(await exportText(shop.workspace.id, phone)).idempotency_keys
  expect(exported.map((each: { idempotency_key: string }) => each.idempotency_key).sort()).toEqual(
    keys.slice(0, 3).sort(),
  )
  await call('erasures', { method: 'POST', body: { phone } })
  await erase()
  const stored = await storedText(shop.workspace.id)
  expect(
    tablesWith({ ...stored, idempotency_keys: stored.idempotency_keys?.replaceAll(`${phone}9`, '') ?? '' }, phone),
  ).toEqual([])
  expect([tablesWith(stored, 'secret'), tablesWith(stored, 'Quincy')]).toEqual([[], []])
  const again = await shop.send(body, { 'idempotency-key': keys[0] ?? '' })
  await forms.sending.drain()
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true'])
  expect(again.body).toEqual({ ...(first.body as object), to: null, to_user_id: null, reference: null })
  expect(shop.taken(phone)).toHaveLength(count)
  for (const key of keys.slice(1)) {
    const same = await shop.send({ ...body, to: other, reference: 'x' }, { 'idempotency-key': key })
    expect([same.status, same.headers.get('idempotent-replayed'), same.body]).toMatchObject([
      202,
      'true',
      { to: other },
    ])
  }
  const changed = await shop.send({ ...body, reference: 'y' }, { 'idempotency-key': keys[0] ?? '' })
  expect(changed.status).toBe(422)
})

test('a person is found by number and by user ID, also where only one of both is known', async () => {
  const { control } = forms.sending.network
  for (const by of ['number', 'user ID'] as const) {
    const { shop, phone, phones, call } = await newConversation()
    const { userId } = control.phones.get(phone)
    // From now on the network withholds the number.
    control.phones.change(phone, { username: `ana.${phone}` })
    control.phones.change(phone, { switches: { senderIdentity: 'user_id_only' } })
    await phones.say(phone, { to: shop.account.phoneNumber, text: 'secret, without a number' })
    await control.idle()
    await shop.send({ to_user_id: userId, type: 'text', text: { body: 'secret reply' } })
    await forms.sending.drain()
    expect(tablesWith(await storedText(shop.workspace.id), userId)).toContain('messages')
    await call('erasures', { method: 'POST', body: by === 'number' ? { phone } : { user_id: userId } })
    await erase()
    expect((await call('erasures')).body.data, by).toMatchObject([{ removed: { messages: 3, inbound_messages: 3 } }])
    const stored = await storedText(shop.workspace.id)
    for (const each of [phone, userId, 'secret', `ana.${phone}`]) expect(tablesWith(stored, each), by).toEqual([])
  }
})

test('the same person in another workspace, and others in the same webhook of the network, stay', async () => {
  const [ours, theirs] = [await newWorkspace(server), await newWorkspace(server)]
  const app = await newApp(server)
  const phone = newPhone()
  const other = newPhone()
  for (const { id } of [ours, theirs]) {
    const sender = await newSender(server, id, app.id, String(Math.trunc(Math.random() * 1e15)))
    const messages = [phone, other].map((from) => ({ ...text(`wamid.${id}.${from}`, 'hola'), from }))
    expect(await app.post(webhookOf(sender.phoneNumberId, messages))).toBe(200)
    // A number that is not synced yet: the update is parked.
    const parked = webhookOf(String(Math.trunc(Math.random() * 1e15)), messages)
    const contacts = [phone, other].map((wa_id) => ({ profile: { name: `name of ${wa_id}` }, wa_id }))
    const [entry] = parked.entry
    Object.assign(entry?.changes[0]?.value ?? {}, { contacts })
    expect(await app.post({ ...parked, entry: [{ ...entry, id: sender.wabaId }] })).toBe(200)
    for (const wa_id of [phone, other]) {
      const chosen = { wa_id, category: 'marketing_messages', value: 'stop', timestamp: '1786000000' }
      const value = { metadata: { phone_number_id: sender.phoneNumberId }, user_preferences: [chosen] }
      const change = { field: 'user_preferences', value }
      expect(await app.post({ object: parked.object, entry: [{ id: sender.wabaId, changes: [change] }] })).toBe(200)
    }
  }
  const admin = await signedIn(server, { workspaceId: ours.id, role: 'admin' })
  expect(tablesWith(await storedText(ours.id), phone)).toEqual(
    expect.arrayContaining(['parked_updates', 'marketing_preferences']),
  )
  await admin.call(`/w/${ours.id}/erasures`, { method: 'POST', body: { phone } })
  await erase()
  const stored = await storedText(ours.id)
  expect(tablesWith(stored, phone)).toEqual([])
  // The last one has the same rows as inbound_messages.
  const tables = ['events', 'inbound_messages', 'marketing_preferences', 'parked_updates', 'search_inbound']
  expect(tablesWith(stored, other).sort()).toEqual(tables)
  expect(stored.events?.match(/contact\.preference_changed/g)).toHaveLength(2)
  expect(tablesWith(await storedText(theirs.id), phone).sort()).toEqual(tables)
})

/** The export of a person, as text. */
async function exportText(workspaceId: string, number: string): Promise<string> {
  const pieces: string[] = []
  for await (const piece of exportPerson(server.db, server.clock, workspaceId, { number })) pieces.push(piece)
  return pieces.join('')
}

/** WhatsApp's ID of a message to or from a number, which contains it. */
const idOf = (number: string, name: string) =>
  `wamid.${Buffer.from(`\x1c\x18${String.fromCharCode(number.length)}${number}\x15\x02\x00\x11\x18${name}`).toString('base64')}`

/** The same in the format that WhatsApp used until 2022: two digits in each byte. */
const packedIdOf = (number: string) => `wamid.${Buffer.from(`801186${number}f02`, 'hex').toString('base64url')}`

test('the export has from a webhook about several people what erasing one of them removes', async () => {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, String(Math.trunc(Math.random() * 1e15)))
  const [phone, other] = [newPhone(), newPhone()]
  const webhook = webhookOf(String(Math.trunc(Math.random() * 1e15)), [
    { ...text(idOf(phone, 'a'), 'words of one'), from: phone },
    { ...text(idOf(other, 'b'), 'words of the other'), from: other },
  ])
  const value = {
    ...webhook.entry[0]?.changes[0]?.value,
    contacts: [phone, other].map((wa_id) => ({ profile: { name: `name of ${wa_id}` }, wa_id })),
    statuses: [phone, other].map((number) => ({ id: idOf(number, 'c'), status: 'read', timestamp: '1786000000' })),
  }
  const quoting = { ...text(idOf(other, 'd'), phone), from: other }
  const parked = (each: object) => ({
    object: webhook.object,
    entry: [{ id: sender.wabaId, changes: [{ field: 'messages', value: each }] }],
  })
  expect(await app.post(parked(value))).toBe(200)
  expect(await app.post(parked({ ...value, statuses: [], messages: [quoting] }))).toBe(200)
  const document = await exportText(workspace.id, phone)
  expect(tablesWith({ document }, other)).toEqual([])
  expect(document).not.toContain('words of the other')
  const about = { contacts: [{ wa_id: phone }], messages: [{ from: phone }], statuses: [{ id: idOf(phone, 'c') }] }
  const onlyContact = { contacts: [{ wa_id: phone }], messages: [], statuses: [] }
  const change = (each: object) => ({ webhook: { entry: [{ changes: [{ value: each }] }] } })
  expect(JSON.parse(document).parked_updates).toMatchObject([change(about), change(onlyContact)])
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  await admin.call(`/w/${workspace.id}/erasures`, { method: 'POST', body: { phone } })
  await erase()
  const stored = await storedText(workspace.id)
  // What the other person wrote stays, even if it is this number.
  expect(stored.parked_updates?.match(new RegExp(phone, 'g'))).toHaveLength(1)
  expect(stored.parked_updates).toContain('words of the other')
  expect(JSON.parse(await exportText(workspace.id, phone)).parked_updates).toEqual([])
})

test('statuses of unknown messages are exported and erased by the number in their ID or in their error', async () => {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, String(Math.trunc(Math.random() * 1e15)))
  const phone = newPhone()
  const longer = `${phone}1`
  const failed = (id: string, details: string) => {
    const errors = [{ code: 131026, title: 'Undeliverable', message: 'Undeliverable', error_data: { details } }]
    return { id, status: 'failed', timestamp: '1786000000', errors }
  }
  const sent = (id: string) => ({ id, status: 'sent', timestamp: '1786000000' })
  const theirs = [
    ...[sent(idOf(phone, 'a')), sent(packedIdOf(phone))],
    ...[failed('wamid.opaque', `No account for +${phone}.`), failed('wamid.lines', `No account:\n${phone}\n`)],
  ]
  const others = [sent(idOf(longer, 'b')), sent(packedIdOf(newPhone())), sent('wamid.A'), failed('x', `For ${longer}.`)]
  const webhook = webhookOf(sender.phoneNumberId, [])
  Object.assign(webhook.entry[0]?.changes[0]?.value ?? {}, { contacts: [], statuses: [...theirs, ...others] })
  expect(await app.post(webhook)).toBe(200)
  const idsIn = async () =>
    (
      await server.db.rows<{ id: string }>('select wa_message_id as id from early_statuses where workspace_id = $1', [
        workspace.id,
      ])
    ).map(({ id }) => id)
  expect((await idsIn()).sort()).toEqual([...theirs, ...others].map(({ id }) => id).sort())
  const { early_statuses: exported } = JSON.parse(await exportText(workspace.id, phone))
  expect(exported.map((each: { wa_message_id: string }) => each.wa_message_id).sort()).toEqual(
    theirs.map(({ id }) => id).sort(),
  )
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  await admin.call(`/w/${workspace.id}/erasures`, { method: 'POST', body: { phone } })
  await erase()
  expect((await idsIn()).sort()).toEqual(others.map(({ id }) => id).sort())
})

test('messages in tables of older messages, and contents that were removed before, are erased too', async () => {
  const { shop, phone, phones } = await newConversation()
  await passSteadyDays(server, 12)
  const anySize = { ...moveLimits, recentBytes: 0 }
  await moveOlderMessages(server.db, server.clock, quiet, anySize)
  expect(await moveOlderMessages(server.db, server.clock, quiet, anySize)).toBeGreaterThan(0)
  await removeOldContents(server.db, server.clock, quiet, 7)
  await phones.say(phone, { to: shop.account.phoneNumber, text: 'secret, recently' })
  await forms.sending.network.control.idle()
  const admin = await signedIn(server, { workspaceId: shop.workspace.id, role: 'admin' })
  await admin.call(`/w/${shop.workspace.id}/erasures`, { method: 'POST', body: { phone } })
  await erase()
  const { data } = (await admin.call(`/w/${shop.workspace.id}/erasures`)).body
  expect(data).toMatchObject([{ ended_at: expect.any(String), removed: { messages: 2, inbound_messages: 3 } }])
  const stored = await storedText(shop.workspace.id)
  expect([tablesWith(stored, phone), tablesWith(stored, 'secret')]).toEqual([[], []])
})

test('only an admin who confirmed their identity may export or erase, and the audit log does not say whom', async () => {
  const { shop, phone, call, admin } = await newConversation()
  const path = `/w/${shop.workspace.id}/erasures`
  for (const role of ['developer', 'member'] as const) {
    const person = await signedIn(server, { workspaceId: shop.workspace.id, role })
    expect((await person.call(path, { method: 'POST', body: { phone } })).status).toBe(403)
    expect((await person.call(path)).status).toBe(403)
    expect((await person.call(`/w/${shop.workspace.id}/contact.json?phone=${phone}`)).status).toBe(403)
  }
  server.clock.forward({ minutes: 11 })
  const unconfirmed = await call('erasures', { method: 'POST', body: { phone } })
  expect([unconfirmed.status, unconfirmed.body.error.code]).toEqual([403, 'confirmation_required'])
  const next = await signedIn(server, { workspaceId: shop.workspace.id, role: 'admin' })
  for (const body of [{}, { phone, user_id: 'US.1' }, { phone: 'x' }]) {
    expect((await next.call(path, { method: 'POST', body })).status).toBe(400)
  }
  const exported = await next.call(`/w/${shop.workspace.id}/contact.json?phone=%2B${phone}`)
  expect(exported.body).toMatchObject({
    numbers: [phone],
    messages: [{ content: { request: { text: { body: 'secret offer' } } } }, {}],
    inbound_messages: [
      { content: { text: 'secret question' } },
      { flow_response: { response: { note: 'secret answer' } } },
    ],
  })
  const { body } = await next.call(path, { method: 'POST', body: { phone } })
  expect(body).toMatchObject({ asked_by: next.email })
  const { data } = (await next.call(`/w/${shop.workspace.id}/audit?action=contact.erase`)).body
  expect(data).toMatchObject([{ action: 'contact.erase', target: body.id, actor: next.email }])
  // Other actions on messages and orders of a person do not record them either.
  await next.call(`/w/${shop.workspace.id}/messages`, {
    method: 'POST',
    body: { to: phone, type: 'text', text: { body: 'hi' } },
  })
  const entries = await server.db.rows('select * from audit_entries where workspace_id = $1', [shop.workspace.id])
  expect(JSON.stringify(entries)).toContain('message.send')
  expect(JSON.stringify(entries)).not.toContain(phone)
  expect(admin.email).not.toBe(next.email)
})
