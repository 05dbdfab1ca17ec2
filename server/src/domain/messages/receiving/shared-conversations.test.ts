import type { Contact, ConversationMessage } from '@parley/contract/console/contacts'
import { type EventType, eventSchemas } from '@parley/contract/events'
import { Check } from 'typebox/value'
import { expect, test } from 'vitest'
import { signedIn } from '../../../../testing/console.ts'
import { localRules } from '../../../../testing/deliveries.ts'
import { mayIdle } from '../../../../testing/may-idle.ts'
import { eventsOf } from '../../../../testing/network-app.ts'
import { useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import type { Db } from '../../../db/db.ts'
import { withoutPrefix } from '../../../lib/ids.ts'
import { newLogger } from '../../../telemetry/logger.ts'
import { readWebhook } from '../../../whatsapp/incoming/incoming.ts'
import { beginErasure, eraseDue } from '../../privacy/erase.ts'
import { exportPerson } from '../../privacy/export.ts'
import { createWebhook } from '../../webhooks/webhooks.ts'
import { saveInbound } from './inbound.ts'

const server = useTestServer()
const sending = useSending(server)

let people = 0

async function setUp() {
  const shop = await sending.newShop()
  const { control } = sending.network
  const [number] = control.numbers.list().filter(({ wabaId }) => wabaId === shop.account.wabaId)
  const person = String(16_505_590_000 + ++people)
  const business = shop.account.phoneNumber
  const metadata = { display_phone_number: business, phone_number_id: number?.id }
  const contacts = [{ profile: { name: 'Ana', username: '@ana' }, wa_id: person, user_id: `US.${person}` }]
  /** Posts a signed webhook with one change. */
  const post = async (field: string, value: object, withMetadata = true) => {
    const common = withMetadata ? { messaging_product: 'whatsapp', metadata } : { messaging_product: 'whatsapp' }
    control.wabas.notify(shop.account.wabaId, { field, value: { ...common, ...value } })
    await control.idle()
  }
  /** The data of all events so far. Each must match its schema. */
  const events = async (type: EventType): Promise<Record<string, unknown>[]> => {
    const found = (await eventsOf(server, shop.workspace.id)).filter((event) => event.type === type)
    for (const event of found) expect(Check(eventSchemas[type], event), JSON.stringify(event)).toBe(true)
    return found.map(({ data }) => data as Record<string, unknown>)
  }
  const now = Math.floor(server.clock.now().getTime() / 1000)
  const message = (id: string, more: object = {}) => ({
    from: person,
    from_user_id: `US.${person}`,
    id: `wamid.${person}.${id}`,
    timestamp: String(now),
    type: 'text',
    text: { body: 'hola' },
    ...more,
  })
  const { from: _, from_user_id: __, ...sent } = message('E1', { text: { body: 'from the app' } })
  const echo = { ...sent, from: business, to: person, to_user_id: `US.${person}` }
  const developer = await signedIn(server, { workspaceId: shop.workspace.id, role: 'developer' })
  const at = `/w/${shop.workspace.id}/contacts/${person}`
  const conversation = async () =>
    ((await developer.call(`${at}/messages`)).body as { data: ConversationMessage[] }).data
  const contact = async () => (await developer.call(at)).body as Contact
  const inbound = async () =>
    ((await shop.workspace.call('/v1/inbound_messages')).body as { data: Record<string, unknown>[] }).data
  return { shop, person, business, contacts, post, events, now, message, echo, conversation, contact, inbound }
}

const updatesOf = (workspaceId: string) =>
  server.db.rows('select field, outcome, paths from network_updates where workspace_id = $1 order by id', [workspaceId])

const seconds = (time: number) => new Date(time * 1000).toISOString()

/** What every message has that says nothing else. */
const bare = {
  in_reply_to: null,
  reply: null,
  media: null,
  location: null,
  group_id: null,
  forwarded: false,
  contacts: null,
  order: null,
  reaction: null,
  referral: null,
  referred_product: null,
  edit: null,
  deletion: null,
  unsupported: null,
  standby: false,
}

test('a message in standby is message.received with standby, once, and opens the window', async () => {
  const { shop, person, contacts, post, events, now, message, inbound, contact } = await setUp()
  await post('standby', { standby: { contacts, messages: [message('S1')] } })
  await post('standby', { standby: { contacts, messages: [message('S1')] } })
  await post('messages', { contacts, messages: [message('S1')] })
  const received = await events('message.received')
  expect(received).toEqual([
    {
      ...bare,
      message_id: expect.stringMatching(/^msg_/),
      wa_message_id: `wamid.${person}.S1`,
      from: person,
      from_user_id: `US.${person}`,
      from_parent_user_id: null,
      profile_name: 'Ana',
      sender_id: shop.senderId,
      type: 'text',
      text: 'hola',
      received_at: seconds(now),
      username: 'ana',
      standby: true,
    },
  ])
  expect(await inbound()).toMatchObject([{ standby: true, window_expires_at: seconds(now + 86_400) }])
  expect((await contact()).senders).toMatchObject([{ window_expires_at: seconds(now + 86_400) }])
})

test('a status in standby counts as any other', async () => {
  const { shop, person, post, events, now } = await setUp()
  const { id } = await shop.sendText(person)
  await sending.drain()
  const { wa_message_id } = await shop.look(id)
  const read = { id: wa_message_id, status: 'read', timestamp: String(now + 9), recipient_id: person }
  await post('standby', { standby: { statuses: [read] } })
  expect(await shop.look(id)).toMatchObject({ status: 'read' })
  expect(await events('message.read')).toMatchObject([{ message_id: id }])
})

test('an echo of standby has the body of a send, and is one of an agent', async () => {
  const { shop, person, post, events, now } = await setUp()
  const sent = { to: person, recipient_type: 'individual', type: 'text', text: { body: 'I am an agent' } }
  const echoes = [
    { id: 'wamid.A1', timestamp: String(now), message: { ...sent, context: { message_id: 'wamid.before' } } },
    {
      id: 'wamid.A2',
      timestamp: String(now + 1),
      message: { to: person, type: 'template', template: { name: 'hello', language: { code: 'en' } } },
    },
  ]
  await post('standby', { standby: { message_echoes: echoes } })
  await post('standby', { standby: { message_echoes: echoes } })
  const common = {
    ...bare,
    message_id: expect.stringMatching(/^msg_/),
    to: person,
    to_user_id: null,
    to_parent_user_id: null,
    profile_name: null,
    username: null,
    sender_id: shop.senderId,
    standby: true,
    source: 'agent',
  }
  const data = await events('message.echoed')
  expect(data.toSorted((one, other) => String(one.wa_message_id).localeCompare(String(other.wa_message_id)))).toEqual([
    {
      ...common,
      wa_message_id: 'wamid.A1',
      type: 'text',
      text: 'I am an agent',
      received_at: seconds(now),
      in_reply_to: { wa_message_id: 'wamid.before', message_id: null },
    },
    {
      ...common,
      wa_message_id: 'wamid.A2',
      type: 'unsupported',
      text: null,
      received_at: seconds(now + 1),
      unsupported: {
        type: 'template',
        code: null,
        title: null,
        content: { name: 'hello', language: { code: 'en' } },
      },
    },
  ])
})

test.each([
  ['smb_message_echoes', 'business_app'],
  ['message_echoes', 'other'],
])('%s is message.echoed from %s, once, and no inbound message', async (field, source) => {
  const { shop, person, contacts, post, events, now, echo, conversation, contact, inbound } = await setUp()
  await post(field, { contacts, message_echoes: [echo] })
  await post(field, { contacts, message_echoes: [echo, echo] })
  expect(await events('message.echoed')).toEqual([
    {
      ...bare,
      message_id: expect.stringMatching(/^msg_/),
      wa_message_id: `wamid.${person}.E1`,
      to: person,
      to_user_id: `US.${person}`,
      to_parent_user_id: null,
      profile_name: 'Ana',
      username: 'ana',
      sender_id: shop.senderId,
      type: 'text',
      text: 'from the app',
      received_at: seconds(now),
      source,
    },
  ])
  expect(await events('message.received')).toEqual([])
  expect(await inbound()).toEqual([])
  const [{ id, ...shown } = { id: '' }] = await conversation()
  expect(shown).toMatchObject({ direction: 'sent', source, status: 'sent', received: { text: 'from the app' } })
  expect((await shop.workspace.call(`/v1/inbound_messages/${id}`)).status).toBe(404)
  expect((await shop.workspace.call(`/v1/inbound_messages/${id}/read`, { method: 'POST', body: {} })).status).toBe(404)
  expect((await contact()).senders).toMatchObject([{ window_expires_at: null }])
  const overview = await signedIn(server, { workspaceId: shop.workspace.id, role: 'developer' })
  const listed = await overview.call(`/w/${shop.workspace.id}/messages?direction=received`)
  expect(listed.body).toMatchObject({ data: [] })
})

test('an echo of a message that this service sent is none', async () => {
  const { shop, person, post, events, echo, conversation } = await setUp()
  const { id } = await shop.sendText(person)
  await sending.drain()
  const { wa_message_id } = await shop.look(id)
  await post('smb_message_echoes', { message_echoes: [{ ...echo, id: wa_message_id }] })
  expect(await events('message.echoed')).toEqual([])
  expect(await conversation()).toMatchObject([{ id, source: null }])
})

test('a handover is conversation.control_changed, once, and the console shows who has control', async () => {
  const { shop, person, post, events, now, message, contact } = await setUp()
  await post('messages', { messages: [message('M1')] })
  const handover = (type: string, time: number, owners: object) => ({
    sender: { phone_number: person },
    recipient: { phone_number_id: shop.account.phoneNumber, display_phone_number: shop.account.phoneNumber },
    type,
    timestamp: String(time),
    [type]: owners,
  })
  const { control } = sending.network
  const [number] = control.numbers.list().filter(({ wabaId }) => wabaId === shop.account.wabaId)
  const recipient = { phone_number_id: number?.id, display_phone_number: shop.account.phoneNumber }
  const taken = handover('control_taken', now + 5, { previous_owner_app_id: 712, new_owner_role: 'primary' })
  const passed = handover('control_passed', now, {
    previous_owner_role: 'primary',
    previous_owner_app_id: '1',
    new_owner_role: 'meta_business_agent',
  })
  for (const value of [taken, passed, passed, taken]) await post('messaging_handovers', { ...value, recipient }, false)
  const common = { from: person, from_user_id: null, sender_id: shop.senderId }
  const changes = await events('conversation.control_changed')
  expect(changes).toEqual([
    { ...common, change: 'taken', previous_owner: '712', new_owner: 'primary', occurred_at: seconds(now + 5) },
    {
      ...common,
      change: 'passed',
      previous_owner: 'primary',
      new_owner: 'meta_business_agent',
      occurred_at: seconds(now),
    },
  ])
  expect((await contact()).senders).toMatchObject([
    { control: { change: 'taken', previous_owner: '712', new_owner: 'primary', at: seconds(now + 5) } },
  ])
})

test('two handovers of one second are both published, and one without a time is not understood', async () => {
  const { shop, person, post, events, now } = await setUp()
  const { control } = sending.network
  const [number] = control.numbers.list().filter(({ wabaId }) => wabaId === shop.account.wabaId)
  const to = (new_owner_role: string, timestamp?: string) => ({
    sender: { phone_number: person },
    recipient: { phone_number_id: number?.id },
    type: 'control_passed',
    timestamp,
    control_passed: { new_owner_role },
  })
  const [first, second] = [to('a', String(now)), to('b', String(now))]
  for (const value of [first, second, first, second, to('c')]) await post('messaging_handovers', value, false)
  const changes = await events('conversation.control_changed')
  expect(changes).toMatchObject([
    { new_owner: 'a', previous_owner: null },
    { new_owner: 'b', previous_owner: null },
  ])
  expect(changes).toHaveLength(2)
  expect(await updatesOf(shop.workspace.id)).toMatchObject([
    { field: 'messaging_handovers', outcome: 'not_understood' },
  ])
})

test('history is imported without message events, once, at its own time', async () => {
  const { shop, person, business, post, events, now, message, conversation, inbound } = await setUp()
  const day = 86_400
  const past = (id: string, from: string, body: string, time: number, more: object = {}) => ({
    from,
    id: `wamid.${person}.${id}`,
    timestamp: String(time),
    type: 'text',
    text: { body },
    ...more,
  })
  const chunk = (order: number, progress: number, messages: object[]) => ({
    history: [{ metadata: { phase: 0, chunk_order: order, progress }, threads: [{ id: person, messages }] }],
  })
  const first = chunk(1, 55, [
    past('H1', person, 'long ago', now - 20 * day, { history_context: { status: 'READ' } }),
    past('H2', business, 'our reply', now - 20 * day + 60, { history_context: { status: 'READ' } }),
    past('H3', person, 'and today', now - 60),
  ])
  await post('messages', { messages: [message('M1', { timestamp: String(now) })] })
  await post('history', first)
  await post('history', first)
  // History after live.
  await post('history', chunk(2, 100, [past('M1', person, 'changed', now), past('H1', person, 'again', now)]))
  await post('history', chunk(2, 100, [past('M1', person, 'changed', now)]))
  const imported = { sender_id: shop.senderId, phase: 0 }
  expect(await events('history.imported')).toEqual([
    { ...imported, progress: 55, messages: 3 },
    { ...imported, progress: 100, messages: 0 },
  ])
  expect(await events('message.received')).toMatchObject([{ wa_message_id: `wamid.${person}.M1` }])
  expect(await events('message.echoed')).toEqual([])
  expect(await conversation()).toMatchObject([
    { direction: 'received', status: 'received', received: { text: 'hola' } },
    { direction: 'received', status: 'received', received: { text: 'and today' } },
    { direction: 'sent', source: 'business_app', status: 'read', received: { text: 'our reply' } },
    { direction: 'received', status: 'received', received: { text: 'long ago' } },
  ])
  expect((await inbound()).map(({ text }) => text)).toEqual(['hola', 'and today', 'long ago'])
})

test('a live message that history had before has its event, once', async () => {
  const { shop, person, business, post, events, now, message, echo, inbound, conversation } = await setUp()
  const threads = [
    {
      id: person,
      messages: [
        { from: person, id: `wamid.${person}.L1`, timestamp: String(now), type: 'media_placeholder' },
        { ...message('L2') },
        { ...echo, from: business, history_context: { status: 'READ' } },
        { ...message('L3') },
      ],
    },
  ]
  await post('history', { history: [{ metadata: { phase: 0, chunk_order: 1, progress: 100 }, threads }] })
  expect(await events('message.received')).toEqual([])
  const before = await inbound()
  const image = message('L1', { type: 'image', text: undefined, image: { id: '78', mime_type: 'image/jpeg' } })
  const form = { name: 'flow', body: 'Sent', response_json: '{"flow_token":"t","size":"L"}' }
  const submitted = message('L2', {
    type: 'interactive',
    text: undefined,
    interactive: { type: 'nfm_reply', nfm_reply: form },
  })
  await Promise.all([
    post('messages', { messages: [image, submitted, message('L4')] }),
    post('standby', { standby: { messages: [submitted, image] } }),
    post('messages', { messages: [image] }),
    post('smb_message_echoes', { message_echoes: [echo, echo] }),
    post('smb_message_echoes', { message_echoes: [echo] }),
  ])
  await post('messages', { messages: [image, submitted] })
  await post('history', { history: [{ metadata: { phase: 0, chunk_order: 2, progress: 100 }, threads }] })
  await post('messages', { messages: [image, submitted] })
  const received = await events('message.received')
  const idOf = (id: string, of = received) =>
    of.find((each) => each.wa_message_id === `wamid.${person}.${id}`)?.message_id
  expect(received.map((each) => each.wa_message_id).sort()).toEqual(
    ['L1', 'L2', 'L4'].map((id) => `wamid.${person}.${id}`),
  )
  expect([idOf('L1'), idOf('L2')]).toEqual([idOf('L1', before), idOf('L2', before)])
  expect(await events('message.echoed')).toMatchObject([{ wa_message_id: echo.id, source: 'business_app' }])
  expect(await events('flow.completed')).toMatchObject([{ message_id: idOf('L2') }])
  expect((await inbound()).find(({ message_id: id }) => id === idOf('L1'))).toMatchObject({
    type: 'image',
    media: { id: '78' },
  })
  expect(await server.db.rows('select 1 from flow_files where workspace_id = $1', [shop.workspace.id])).toHaveLength(1)
  expect((await conversation()).filter(({ direction }) => direction === 'sent')).toMatchObject([{ status: 'read' }])
})

test('two processes that take the same live message from history publish it once', async () => {
  const { shop, person, post, events, now, message } = await setUp()
  const threads = [{ id: person, messages: [message('R')] }]
  await post('history', { history: [{ metadata: { phase: 0, chunk_order: 1, progress: 100 }, threads }] })
  const value = { metadata: { phone_number_id: '1' }, messages: [message('R')] }
  const [item] = readWebhook(
    { object: 'whatsapp_business_account', entry: [{ id: '1', changes: [{ field: 'messages', value }] }] },
    new Date(now * 1000),
  )
  if (item?.kind !== 'message') throw new Error('it is no message')
  const senderId = withoutPrefix('snd', shop.senderId) as string
  const destination = { appId: '', phoneNumberId: '1', workspaceId: shop.workspace.id, senderId }
  const save = (db: Db) => saveInbound(db, server.clock.now(), [{ item, destination }], 'http://localhost')
  let second: Promise<void> | undefined
  await server.db.transaction(async (tx) => {
    await mayIdle(tx)
    await save(tx)
    second = save(server.db)
    await until('the second one waits', async () =>
      Boolean(await server.db.first(`select 1 as one from pg_stat_activity where wait_event_type = 'Lock'`)),
    )
  })
  await second
  expect(await events('message.received')).toMatchObject([{ wa_message_id: `wamid.${person}.R` }])
})

test('a file of history replaces its placeholder', async () => {
  const { shop, person, business, post, events, now, conversation } = await setUp()
  const placeholder = { from: business, id: `wamid.${person}.P`, timestamp: String(now), type: 'media_placeholder' }
  const metadata = { phase: 1, chunk_order: 1, progress: 10 }
  await post('history', { history: [{ metadata, threads: [{ id: person, messages: [placeholder] }] }] })
  expect(await conversation()).toMatchObject([{ type: 'unsupported', source: 'business_app' }])
  const image = {
    ...placeholder,
    to: person,
    type: 'image',
    image: { id: '77', mime_type: 'image/jpeg', caption: 'us' },
  }
  await post('history', { messages: [image] })
  await post('history', { messages: [image] })
  expect(await conversation()).toMatchObject([{ type: 'image', received: { text: 'us', media: { id: '77' } } }])
  expect(await events('history.imported')).toEqual([
    { sender_id: shop.senderId, phase: 1, progress: 10, messages: 1 },
    { sender_id: shop.senderId, phase: null, progress: null, messages: 1 },
  ])
})

test('smb_app_state_sync puts names on contacts, and removes them', async () => {
  const { person, post, events, message, contact } = await setUp()
  await post('messages', { messages: [message('M1')] })
  const sync = (action: string, time: number, more: object = {}) => ({
    state_sync: [
      { type: 'contact', contact: { phone_number: person, ...more }, action, metadata: { timestamp: String(time) } },
    ],
  })
  await post('smb_app_state_sync', sync('add', 1_786_000_000, { full_name: 'Ana Bakery', first_name: 'Ana' }))
  expect(await contact()).toMatchObject({ saved_name: 'Ana Bakery' })
  await post('smb_app_state_sync', sync('remove', 1_786_000_002))
  await post('smb_app_state_sync', sync('add', 1_786_000_001, { full_name: 'Late' }))
  expect(await contact()).toMatchObject({ saved_name: null })
  expect(await events('history.imported')).toEqual([])
})

test('an edit and a deletion name the message that they change, and the conversation shows both texts', async () => {
  const { person, post, events, message, echo, conversation, inbound } = await setUp()
  await post('messages', { messages: [message('M1')] })
  const [original] = await events('message.received')
  const target = `wamid.${person}.M1`
  const edit = {
    original_message_id: target,
    message: { type: 'text', text: { body: 'fixed' }, context: { id: 'M0' } },
  }
  await post('messages', { messages: [message('M2', { type: 'edit', edit, text: undefined })] })
  const revoke = { original_message_id: target }
  await post('messages', { messages: [message('M3', { type: 'revoke', revoke, text: undefined })] })
  const changed = { wa_message_id: target, message_id: original?.message_id }
  expect((await events('message.received')).slice(1)).toMatchObject([
    {
      type: 'unsupported',
      text: null,
      in_reply_to: null,
      edit: { ...changed, text: 'fixed' },
      deletion: null,
      unsupported: { type: 'edit', content: edit },
    },
    { type: 'unsupported', in_reply_to: null, edit: null, deletion: changed, unsupported: { type: 'revoke' } },
  ])
  expect(await inbound()).toMatchObject([
    { in_reply_to: null, deletion: changed },
    { in_reply_to: null, edit: { ...changed, text: 'fixed' } },
    { edit: null, deletion: null },
  ])
  const messages = await conversation()
  expect(messages.at(-1)).toMatchObject({
    id: original?.message_id,
    received: { text: 'hola' },
    edit: { text: 'fixed' },
    deletion: { at: expect.any(String) },
  })
  // The business edits a message that it wrote in its app.
  const fixed = { original_message_id: echo.id, message: { type: 'text', text: { body: 'better' } } }
  await post('smb_message_echoes', { message_echoes: [echo] })
  await post('smb_message_echoes', {
    message_echoes: [{ ...echo, id: 'wamid.E2', type: 'edit', text: undefined, edit: fixed }],
  })
  const [first, second] = await events('message.echoed')
  expect(second).toMatchObject({ edit: { wa_message_id: echo.id, message_id: first?.message_id, text: 'better' } })
})

test('request_welcome is an unsupported message that opens the window', async () => {
  const { post, events, now, message, inbound } = await setUp()
  await post('messages', { messages: [message('W', { type: 'request_welcome', text: undefined })] })
  expect(await events('message.received')).toMatchObject([
    { type: 'unsupported', unsupported: { type: 'request_welcome', code: null, title: null, content: null } },
  ])
  expect(await inbound()).toMatchObject([{ window_expires_at: seconds(now + 86_400) }])
})

test.each([
  [
    'call_permission_reply',
    { response: 'accept', expiration_timestamp: 1_786_000_000, response_source: 'user_action' },
  ],
  ['payment_method', { payment_method: 'upi', payment_timestamp: 1_786_000_000, reference_id: 'r1' }],
])('%s is passed on as it arrived', async (type, content) => {
  const { post, events, message } = await setUp()
  const interactive = { type, [type]: content }
  await post('messages', { messages: [message('I', { type: 'interactive', interactive, text: undefined })] })
  expect(await events('message.received')).toMatchObject([
    { type: 'unsupported', unsupported: { type, code: null, title: null, content } },
  ])
})

test('the fields of a message that the network added are passed on', async () => {
  const { person, post, events, message } = await setUp()
  const referral = {
    source_type: 'ad',
    source_id: '1',
    source_url: 'https://fb.me/1',
    headline: 'h',
    body: 'b',
    ctwa_clid: 'c',
    media_type: 'video',
    image_url: 'https://x.example/i',
    video_url: 'https://x.example/v',
    thumbnail_url: 'https://x.example/t',
    ref: 'summer',
    welcome_message: { text: 'Hi!' },
  }
  const referred_product = { catalog_id: '19', product_retailer_id: 'SKU-1' }
  const context = { from: person, id: 'wamid.out', referred_product }
  const parent = { from_parent_user_id: 'US.ENT.1' }
  await post('messages', { messages: [message('F1', { referral, context, ...parent })] })
  const row = { type: 'list_reply', list_reply: { id: 'r', title: 'Row', description: 'More' } }
  await post('messages', { messages: [message('F2', { type: 'interactive', interactive: row, text: undefined })] })
  const card = {
    name: { formatted_name: 'Bo' },
    org: { company: 'Acme', department: 'D', title: 'T' },
    addresses: [{ street: 's', city: 'c', state: 'st', zip: 'z', country: 'co', country_code: 'us', type: 'HOME' }],
    urls: [{ url: 'https://acme.example', type: 'WORK' }],
    birthday: '2001-02-03',
  }
  await post('messages', { messages: [message('F3', { type: 'contacts', contacts: [card], text: undefined })] })
  const { name: _, ...rest } = card
  expect(await events('message.received')).toMatchObject([
    { referral, referred_product, ...parent },
    { reply: { id: 'r', title: 'Row', description: 'More' }, from_parent_user_id: null },
    { contacts: [{ name: 'Bo', ...rest }] },
  ])
})

test('a summary next to a message is stored as a network update, and the message is published', async () => {
  const { shop, post, events, message } = await setUp()
  const conversation_context = { type: 'summary', summary: { text: 'Wants a refund.' } }
  await post('messages', { messages: [message('C')], conversation_context })
  expect(await events('message.received')).toMatchObject([{ text: 'hola' }])
  expect(await updatesOf(shop.workspace.id)).toEqual([
    { field: 'messages', outcome: 'partly_understood', paths: ['conversation_context'] },
  ])
})

test('what section 14 of the contract names is read completely', async () => {
  const { shop, post, events, message, echo, person } = await setUp()
  const edit = { original_message_id: 'wamid.x', message: { type: 'text', text: { body: 'fixed' } } }
  const revoke = { original_message_id: 'wamid.x' }
  const kinds = [
    message('A'),
    message('B', { type: 'edit', edit, text: undefined }),
    message('C', { type: 'revoke', revoke, text: undefined }),
    message('D', { type: 'request_welcome', text: undefined }),
  ]
  await post('standby', { standby: { messages: kinds, message_echoes: [echo] } })
  const metadata = { phase: 0, chunk_order: 1, progress: 5 }
  await post('history', { history: [{ metadata, threads: [{ id: person, messages: [message('H')] }] }] })
  expect(await events('message.received')).toHaveLength(4)
  expect(await updatesOf(shop.workspace.id)).toEqual([])
})

test('a person with nothing but echoes is exported and erased', async () => {
  const { shop, person, post, echo, now, conversation } = await setUp()
  const { control } = sending.network
  const [number] = control.numbers.list().filter(({ wabaId }) => wabaId === shop.account.wabaId)
  await post('smb_message_echoes', { message_echoes: [echo] })
  const owners = { previous_owner_role: 'a', new_owner_role: 'b' }
  const recipient = { phone_number_id: number?.id }
  const passed = { sender: { phone_number: person }, recipient, timestamp: String(now), control_passed: owners }
  await post('messaging_handovers', { ...passed, type: 'control_passed' }, false)
  const saved = { type: 'contact', contact: { phone_number: person, full_name: 'Secret Ana' }, action: 'add' }
  await post('smb_app_state_sync', { state_sync: [saved] })
  const exported = async () => {
    const pieces: string[] = []
    const all = exportPerson(server.db, server.clock, shop.workspace.id, { number: person })
    for await (const piece of all) pieces.push(piece)
    return JSON.parse(pieces.join(''))
  }
  expect(await exported()).toMatchObject({
    inbound_messages: [{ to: person, source: 'business_app', content: { text: 'from the app' }, events: [{}] }],
    handovers: [{ change: 'passed', new_owner: 'b' }],
    saved_contacts: [{ name: 'Secret Ana' }],
    events: [{ type: 'conversation.control_changed' }],
  })
  const admin = await signedIn(server, { workspaceId: shop.workspace.id, role: 'admin' })
  await admin.call(`/w/${shop.workspace.id}/erasures`, { method: 'POST', body: { phone: person } })
  await eraseDue(server.db, server.clock, newLogger('silent'))
  expect(await conversation()).toEqual([])
  expect(await exported()).toMatchObject({ inbound_messages: [], handovers: [], saved_contacts: [], events: [] })
  for (const table of ['inbound_messages', 'events', 'handovers', 'saved_contacts']) {
    const left = await server.db.rows(`select 1 as one from ${table} t where t::text like $1`, [`%${person}%`])
    expect([table, left]).toEqual([table, []])
  }
})

test('a person who wrote nothing is exported and erased by user ID, from what also has their number', async () => {
  const { shop, person, post, now } = await setUp()
  const { control } = sending.network
  const [number] = control.numbers.list().filter(({ wabaId }) => wabaId === shop.account.wabaId)
  const user_id = `US.${person}`
  const sender = { phone_number: person, user_id }
  const passed = { sender, recipient: { phone_number_id: number?.id }, timestamp: String(now), control_passed: {} }
  await post('messaging_handovers', { ...passed, type: 'control_passed' }, false)
  const saved = { type: 'contact', contact: { phone_number: person, user_id, full_name: 'Ana' }, action: 'add' }
  await post('smb_app_state_sync', { state_sync: [saved] })
  const choice = { wa_id: person, user_id, category: 'marketing_messages', value: 'stop', timestamp: now }
  await post('user_preferences', { user_preferences: [choice] })
  const exported = async () => {
    const pieces: string[] = []
    const all = exportPerson(server.db, server.clock, shop.workspace.id, { userId: user_id })
    for await (const piece of all) pieces.push(piece)
    return JSON.parse(pieces.join(''))
  }
  expect(await exported()).toMatchObject({
    marketing_preferences: [{ marketing: 'stop' }],
    handovers: [{ change: 'passed' }],
    saved_contacts: [{ name: 'Ana' }],
    events: [{ type: 'conversation.control_changed' }, { type: 'contact.preference_changed' }],
  })
  const named = { workspaceId: shop.workspace.id, person: { userId: user_id }, askedBy: 'test' }
  await beginErasure(server.db, server.clock, named)
  await eraseDue(server.db, server.clock, newLogger('silent'))
  for (const table of ['events', 'handovers', 'saved_contacts', 'marketing_preferences']) {
    const left = await server.db.rows(`select 1 as one from ${table} t where workspace_id = $1`, [shop.workspace.id])
    expect([table, left]).toEqual([table, []])
  }
})

test('the events of a shared conversation belong to it', async () => {
  const { shop, person, contacts, post, now, message, echo } = await setUp()
  const input = {
    workspaceId: shop.workspace.id,
    name: 'Ordered',
    url: 'http://127.0.0.1:9/hook',
    events: ['message.received', 'message.echoed', 'conversation.control_changed'],
    ordering: 'conversation' as const,
  }
  await createWebhook(server.db, server.clock, server.secretKeys, localRules, input)
  const { control } = sending.network
  const [number] = control.numbers.list().filter(({ wabaId }) => wabaId === shop.account.wabaId)
  await post('standby', { standby: { contacts, messages: [message('O1')] } })
  await post('smb_message_echoes', { message_echoes: [echo] })
  const handover = { sender: { phone_number: person }, recipient: { phone_number_id: number?.id } }
  await post('messaging_handovers', { ...handover, type: 'control_taken', timestamp: String(now) }, false)
  const deliveries = await server.db.rows<{ conversation: string | null }>(
    'select conversation from deliveries where workspace_id = $1',
    [shop.workspace.id],
  )
  expect(deliveries).toHaveLength(3)
  expect(new Set(deliveries.map(({ conversation }) => conversation)).size).toBe(1)
  expect(deliveries[0]?.conversation).not.toBeNull()
})
