import type { ListedMessage, MessageDetail } from '@parley/contract/console/messages'
import { roles } from '@parley/contract/console/permissions'
import { expect, test } from 'vitest'
import { type SignedInPerson, signedIn } from '../../../testing/console.ts'
import { localRules, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { newApp, newSender, text, webhookOf } from '../../../testing/network-app.ts'
import { startReceiver } from '../../../testing/receiver.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newUuid } from '../../lib/ids.ts'
import { createWebhook } from '../webhooks/webhooks.ts'
import { suspendWorkspace } from '../workspaces/workspaces.ts'

const server = useTestServer()
const sending = useSending(server)
const deliveries = useDeliveryWorker(server)

const phone = '16505550123'

async function setUp() {
  const shop = await sending.newShop()
  const at = `/w/${shop.workspace.id}`
  const person = await signedIn(server, { workspaceId: shop.workspace.id, role: 'developer' })
  const list = async (query = '', by: SignedInPerson = person) =>
    (await by.call(`${at}/messages${query}`)).body as {
      data: ListedMessage[]
      has_more: boolean
      next_cursor: string | null
    }
  const timeline = async (id: string) => (await person.call(`${at}/messages/${id}`)).body as MessageDetail
  const receive = async (text: string, more: object = {}) => {
    await sending.network.control.phones.say(phone, { to: shop.account.phoneNumber, text, ...more })
    await sending.network.control.idle()
  }
  return { ...shop, at, person, list, timeline, receive }
}

/** A number that the network posts webhooks for, with payloads that the simulated phones do not send. */
async function setUpNumber() {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, String(Math.trunc(Math.random() * 1e15)))
  const at = `/w/${workspace.id}`
  const person = await signedIn(server, { workspaceId: workspace.id, role: 'developer' })
  return {
    workspace,
    sender: { ...sender, appId: app.id },
    at,
    person,
    post: async (...messages: object[]) => {
      const changes = webhookOf(sender.phoneNumberId, messages).entry[0]?.changes ?? []
      // Without contacts, a message has the number that it names itself, or none.
      for (const { value } of changes) value.contacts = []
      const body = { object: 'whatsapp_business_account', entry: [{ id: '1', changes }] }
      expect(await app.post(body)).toBe(200)
    },
    listed: async () => (await person.call(`${at}/messages`)).body.data as ListedMessage[],
    timeline: async (id: string) => (await person.call(`${at}/messages/${id}`)).body as MessageDetail,
  }
}

const textsOf = ({ data }: { data: ListedMessage[] }) => data.map(({ preview }) => preview)

test('GET /messages lists sent and received messages together, and each filter applies', async () => {
  const { list, receive, sendText, send, senderId, workspace } = await setUp()
  await sendText(phone, { text: { body: 'one' }, reference: 'order 7' })
  server.clock.forward({ seconds: 1 })
  await receive('two')
  server.clock.forward({ seconds: 1 })
  const { body: templates } = await workspace.call('/v1/templates')
  const templateId = (templates as { data: { id: string }[] }).data[0]?.id
  await send({ to: '16505550199', type: 'template', template: { id: templateId, variables: { 'body.1': 'Ana' } } })
  await sending.drain()

  const all = await list()
  expect(all.data.map(({ direction, type }) => `${direction} ${type}`)).toEqual([
    'sent template',
    'received text',
    'sent text',
  ])
  expect(all.data[0]).toMatchObject({
    template_id: templateId,
    template_name: 'greeting',
    preview: 'Hello Ana.',
    status: 'read',
  })
  expect(all.data[1]).toMatchObject({ phone, preview: 'two', status: 'received', sender_id: senderId })
  const counts = {
    '?direction=sent': 2,
    '?direction=received': 1,
    '?status=read': 2,
    '?status=failed': 0,
    '?type=template': 1,
    [`?sender=${senderId}`]: 3,
    '?sender=snd_00000000-0000-4000-8000-000000000000': 0,
    [`?template=${templateId}`]: 1,
    [`?phone=%2B${phone}`]: 2,
    '?q=order%207': 1,
    '?q=ord': 1,
    '?q=rder': 0,
    [`?q=${encodeURIComponent('+1 (650) 555-0123')}`]: 2,
    [`?q=${all.data[1]?.id}`]: 1,
    [`?q=${all.data[1]?.id.slice(4).toUpperCase()}`]: 1,
    [`?q=${encodeURIComponent("%_ ' or 1=1 --")}`]: 0,
    [`?from=${all.data[1]?.at}`]: 2,
    [`?to=${all.data[1]?.at}`]: 1,
    [`?q=${phone}&direction=received&type=text`]: 1,
  }
  for (const [query, count] of Object.entries(counts)) expect((await list(query)).data, query).toHaveLength(count)
})

test('a search finds messages by the name of the contact and by words, each once, and other filters apply', async () => {
  const { list, receive, sendText, person, at, workspace } = await setUp()
  sending.network.control.phones.change(phone, { name: 'Ana María' })
  await sendText(phone, { text: { body: 'Your bicycle is ready' }, reference: 'bicycle' })
  server.clock.forward({ seconds: 1 })
  await receive('Which bicycle, from María?')
  server.clock.forward({ seconds: 1 })
  await receive('Thanks')
  server.clock.forward({ seconds: 1 })
  await sendText('16505550199', { text: { body: 'Hello María' } })
  const found = async (query: string) => textsOf(await list(query))
  expect(await found('?q=bicycle')).toEqual(['Which bicycle, from María?', 'Your bicycle is ready'])
  expect(await found('?q=bicycle&direction=sent')).toEqual(['Your bicycle is ready'])
  // By name, what was sent to them too; and by word.
  const all = ['Hello María', 'Thanks', 'Which bicycle, from María?', 'Your bicycle is ready']
  expect(await found('?q=maria')).toEqual(all)
  expect((await person.call(`${at}/messages/total?q=maria`)).body).toEqual({ total: 4, total_is_exact: true })
  const first = await list('?q=maria&limit=3')
  expect([...textsOf(first), ...(await found(`?q=maria&limit=3&cursor=${first.next_cursor}`))]).toEqual(all)
  expect(await found(`?q=maria&phone=${phone}`)).toEqual(all.slice(1))
  expect(await found('?q=maria&phone=16505550199')).toEqual(['Hello María'])
  expect(await found('?q=0199')).toEqual(['Hello María'])
  const named = (await list(`?phone=${phone}&direction=sent`)).data
  expect(named).toMatchObject([{ contact_name: 'Ana María', profile_name: null }])
  const other = await setUp()
  expect(textsOf(await other.list('?q=maria'))).toEqual([])
  expect(workspace.id).not.toBe(other.workspace.id)
})

test('messages with a person without a number are listed by user ID, and sending again reaches them', async () => {
  const { list, timeline, send, person, at, account, taken } = await setUp()
  const { control } = sending.network
  const hidden = '16505550188'
  control.phones.change(hidden, { switches: { senderIdentity: 'user_id_only' } })
  await control.phones.say(hidden, { to: account.phoneNumber, text: 'one' })
  await control.idle()
  const { userId } = control.phones.get(hidden)
  const { body } = await send({ to_user_id: userId, type: 'text', text: { body: 'two' } })
  await sending.drain()
  await send({ to: phone, type: 'text', text: { body: 'to someone else' } })
  for (const query of [`?user_id=${userId}`, `?q=${userId}`]) {
    const { data } = await list(query)
    expect(data.map(({ preview, ...who }) => [preview, who.phone, who.user_id])).toEqual([
      ['two', null, userId],
      ['one', null, userId],
    ])
  }
  expect(await timeline((body as { id: string }).id)).toMatchObject({ phone: null, user_id: userId, status: 'read' })
  const withUsername = `update inbound_messages set content = (content::jsonb || '{"username": "bea"}')::json where sent_by_user_id = $1`
  await server.db.change(withUsername, [userId])
  expect((await list(`?user_id=${userId}`)).data.map(({ username }) => username)).toEqual([null, 'bea'])
  expect((await list('?user_id=US.1')).data).toEqual([])
  const again = await person.call(`${at}/messages/${(body as { id: string }).id}/again`, { method: 'POST' })
  expect(again.status).toBe(202)
  await sending.drain()
  expect(taken(hidden)).toHaveLength(2)
})

test('searching for a number that is also a reference finds both, each message once', async () => {
  const { list, sendText } = await setUp()
  await sendText(phone, { reference: phone })
  await sendText('16505550199', { reference: phone })
  expect((await list(`?q=${phone}`)).data).toHaveLength(2)
})

test('searching for a user ID that is also a reference finds both, each message once', async () => {
  const { list, send, sendText } = await setUp()
  const reference = 'PO.12345'
  await sendText(phone, { reference })
  expect((await send({ to_user_id: reference, type: 'text', text: { body: 'hi' }, reference })).status).toBe(202)
  expect((await list(`?q=${reference}`)).data).toHaveLength(2)
})

test('pages neither skip nor repeat messages while new ones arrive', async () => {
  const { list, receive, sendText } = await setUp()
  for (const text of ['1', '3', '5']) {
    await sendText(phone, { text: { body: text } })
    await receive(String(Number(text) + 1))
  }
  const first = await list('?limit=2')
  await receive('new')
  const second = await list(`?limit=2&cursor=${first.next_cursor}`)
  await sendText(phone, { text: { body: 'newer' } })
  const third = await list(`?limit=2&cursor=${second.next_cursor}`)
  const previews = [first, second, third].flatMap(textsOf)
  expect([...previews].sort()).toEqual(['1', '2', '3', '4', '5', '6'])
  expect(third).toMatchObject({ has_more: false, next_cursor: null })
})

test('GET a message returns its request, statuses, credits, events with deliveries, and replies', async () => {
  const { timeline, receive, sendText, workspace, list, senderId } = await setUp()
  const receiver = await startReceiver()
  receiver.behave(500)
  const input = { workspaceId: workspace.id, name: 'CRM', url: receiver.url, events: ['message.sent'] }
  const { webhook } = await createWebhook(server.db, server.clock, server.secretKeys, localRules, input)
  const sent = await sendText(phone, { text: { body: 'Is it <b>there</b>?' }, reference: 'A-1' })
  await sending.drain()
  await deliveries.worker.drain()
  await server.api.flush()
  const { wa_message_id: waMessageId } = await timeline(sent.id)
  await receive('Yes', { replyTo: waMessageId })

  const message = await timeline(sent.id)
  expect(message).toMatchObject({
    id: sent.id,
    direction: 'sent',
    status: 'read',
    sender: { id: senderId },
    request: { to: phone, type: 'text', text: { body: 'Is it <b>there</b>?' }, reference: 'A-1' },
    author: { kind: 'key', id: workspace.key.id, name: 'test key' },
    api_request: { method: 'POST', route: '/v1/messages', status: 202 },
    credits: { spent: 1, refunded: 0, refunded_at: null },
    explained: null,
    outbox: null,
    in_reply_to: null,
  })
  expect(message.steps.map(({ status }) => status)).toEqual(['queued', 'sent', 'delivered', 'read'])
  // The network may report read before delivered.
  const types = message.events?.map(({ type }) => type) ?? []
  expect(types[0]).toBe('message.sent')
  expect(types.slice(1).sort()).toEqual(['message.delivered', 'message.read'])
  expect(message.events?.[0]?.deliveries).toMatchObject([
    { webhook_id: webhook.id, webhook_name: 'CRM', state: 'retrying', last_status: 500 },
  ])
  expect(message.replies).toMatchObject([{ direction: 'received', preview: 'Yes' }])

  const reply = await timeline(message.replies[0]?.id ?? '')
  expect(reply).toMatchObject({
    direction: 'received',
    received: { text: 'Yes', media: null, location: null, form_id: null, order_id: null },
    in_reply_to: { wa_message_id: message.wa_message_id, message: { id: sent.id } },
    request: null,
    credits: null,
  })
  expect(reply.events).toMatchObject([{ type: 'message.received' }])
  expect((await list('?q=A-1')).data).toHaveLength(1)
})

test('a failed message shows the cause, the fix and the refund', async () => {
  const { timeline, sendText } = await setUp()
  const to = '16505550666'
  sending.network.control.phones.change(to, { onWhatsApp: false })
  const { id } = await sendText(to)
  await sending.drain()
  const { explained, credits, steps } = await timeline(id)
  expect(steps.at(-1)?.status).toBe('failed')
  expect(credits).toMatchObject({ spent: 1, refunded: 1, refunded_at: expect.any(String) })
  expect(explained).toMatchObject({ code: 131026 })
  expect(explained?.cause).toContain('may not use WhatsApp')
  expect(explained?.fix).toContain('Check the number')
})

test('an inbound message shows its contacts, order, reaction, referral, group and what is unsupported', async () => {
  const { post, listed, timeline } = await setUpNumber()
  const referral = { source_type: 'ad', source_id: '7', headline: 'Sale' }
  const item = { product_retailer_id: 'SKU-1', quantity: 2, item_price: 9.99, currency: 'USD' }
  const errors = [{ code: 131051, title: 'Message type unknown' }]
  const { text: _, ...bare } = text('')
  await post(
    { ...text('wamid.1'), group_id: 'group-1', context: { forwarded: true }, referral },
    {
      ...bare,
      id: 'wamid.2',
      type: 'contacts',
      contacts: [{ name: { formatted_name: 'Bea' }, phones: [{ phone: '1' }] }],
    },
    { ...bare, id: 'wamid.3', type: 'order', order: { catalog_id: 'C', product_items: [item] } },
    { ...bare, id: 'wamid.4', type: 'reaction', reaction: { message_id: 'wamid.1', emoji: '👍' } },
    { ...bare, id: 'wamid.5', type: 'unsupported', unsupported: { type: 'poll_creation' }, errors },
  )
  const rows = await listed()
  const idOf = (type: string, preview: string | null) =>
    rows.find((row) => row.type === type && row.preview === preview)?.id ?? ''
  const inGroup = idOf('text', 'hola')
  expect(rows.map(({ group_id }) => group_id).filter(Boolean)).toEqual(['group-1'])
  expect(await timeline(inGroup)).toMatchObject({
    group_id: 'group-1',
    pricing: null,
    received: { forwarded: true, referral: { source_type: 'ad', source_id: '7', headline: 'Sale', ctwa_clid: null } },
  })
  expect((await timeline(idOf('contacts', 'Bea'))).received?.contacts).toEqual([
    {
      name: 'Bea',
      phones: [{ phone: '1', wa_id: null, type: null }],
      emails: [],
      org: null,
      addresses: [],
      urls: [],
      birthday: null,
      origin: null,
    },
  ])
  expect((await timeline(idOf('order', null))).received?.order).toEqual({ catalog_id: 'C', text: null, items: [item] })
  expect((await timeline(idOf('unsupported', '👍'))).received).toMatchObject({
    reaction: { emoji: '👍', wa_message_id: 'wamid.1', message_id: inGroup },
    unsupported: null,
  })
  expect((await timeline(idOf('unsupported', null))).received).toMatchObject({
    reaction: null,
    unsupported: { type: 'poll_creation', code: 131051, title: 'Message type unknown' },
  })
})

test('a file that was received before its hash was stored is shown', async () => {
  const { post, listed, timeline } = await setUpNumber()
  await post(text('wamid.1'))
  const media = { id: '9', mime_type: 'image/jpeg', filename: null, caption: null }
  const [row] = await listed()
  await server.db.change(`update inbound_messages set content = $2 where id = $1`, [row?.id.slice(4), { media }])
  expect((await timeline(row?.id ?? '')).received?.media).toEqual({ ...media, sha256: null, voice: false })
})

test('a sent message shows how the network billed it', async () => {
  const { timeline, sendText } = await setUp()
  const { id } = await sendText(phone)
  await sending.drain()
  expect((await timeline(id)).pricing).toEqual({
    category: 'service',
    type: 'free_customer_service',
    model: 'PMP',
    billable: false,
    cost: null,
  })
})

test('the 24-hour window ends a day after the latest private message to that sender', async () => {
  const { at, person, post, listed, timeline, sender, workspace } = await setUpNumber()
  const window = async (from = phone, senderId = sender.id) =>
    (await person.call(`${at}/reply_window?sender=snd_${senderId}&phone=%2B${from}`)).body.window_expires_at
  expect(await window()).toBeNull()
  await post({ ...text('wamid.group'), timestamp: '1786009999', group_id: 'group-1' })
  expect(await window()).toBeNull()
  const [inGroup] = await listed()
  expect((await timeline(inGroup?.id ?? '')).window_expires_at).toBeNull()

  // The second webhook is late: its message was written before the first.
  await post({ ...text('wamid.new'), timestamp: '1786000500' })
  await post({ ...text('wamid.old'), timestamp: '1786000000' })
  const expected = '2026-08-07T07:15:00.000Z'
  expect(await window()).toBe(expected)
  for (const { id, group_id } of await listed()) {
    if (group_id === null) expect((await timeline(id)).window_expires_at).toBe(expected)
  }
  const another = await newSender(server, workspace.id, sender.appId, String(Math.trunc(Math.random() * 1e15)))
  expect(await window(phone, another.id)).toBeNull()
  expect(await window('16505550199')).toBeNull()
})

test('the window of a person without a number is found by their user ID', async () => {
  const { post, listed, timeline } = await setUpNumber()
  const from = (userId: string, id: string, timestamp: string) => ({
    ...text(id),
    from: undefined,
    from_user_id: userId,
    timestamp,
  })
  await post(from('US.1', 'wamid.1', '1786000000'), from('US.2', 'wamid.2', '1786009999'))
  await post(from('US.1', 'wamid.3', '1786000500'))
  for (const { id, user_id } of await listed()) {
    const expected = user_id === 'US.1' ? '2026-08-07T07:15:00.000Z' : '2026-08-07T09:53:19.000Z'
    expect((await timeline(id)).window_expires_at, id).toBe(expected)
  }
})

test('a message that the network refuses because the 24-hour window ended says so', async () => {
  const { timeline, sendText } = await setUp()
  const { id } = await sendText('15550131047')
  await sending.drain()
  const { explained, status, window_expires_at } = await timeline(id)
  expect(status).toBe('failed')
  expect(explained).toMatchObject({ code: 131047 })
  expect(explained?.cause).toContain('24 hours')
  expect(explained?.fix).toContain('template')
  expect(window_expires_at).toBeNull()
})

test('a message in a group can be neither answered nor reacted to as if it were private', async () => {
  const { post, listed, workspace } = await setUpNumber()
  await post({ ...text('wamid.group'), group_id: 'group-1' }, text('wamid.private'))
  const rows = await listed()
  const send = (body: object) => workspace.call('/v1/messages', { method: 'POST', body: { to: phone, ...body } })
  const refused = (param: string) => ({
    status: 400,
    body: { error: { code: 'validation_failed', errors: [{ param, code: 'in_group' }] } },
  })
  const hi = { type: 'text', text: { body: 'hi' } }
  const inGroup = rows.find(({ group_id }) => group_id !== null)?.id
  const inPrivate = rows.find(({ group_id }) => group_id === null)?.id
  expect(await send({ ...hi, in_reply_to: inGroup })).toMatchObject(refused('in_reply_to'))
  for (const id of [inGroup, 'wamid.group']) {
    const reaction = { message_id: id, emoji: '👍' }
    expect(await send({ type: 'reaction', reaction })).toMatchObject(refused('reaction.message_id'))
  }
  // Refused for its price only.
  expect(await send({ ...hi, in_reply_to: inPrivate })).toMatchObject({ status: 402 })
})

test('a message that is not sent yet shows its state in the outbox', async () => {
  const { timeline, sendText } = await setUp()
  const { id } = await sendText(phone)
  expect((await timeline(id)).outbox).toMatchObject({ state: 'waiting', attempts: 0 })
})

test('a member can read messages, but not their events, requests or credits, and cannot send', async () => {
  const { at, sendText, workspace, list } = await setUp()
  const { id } = await sendText(phone)
  const member = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  expect((await list('', member)).data).toHaveLength(1)
  const { body } = await member.call(`${at}/messages/${id}`)
  expect(body).toMatchObject({ id, events: null, api_request: null, credits: null })
  const refused = { status: 403, body: { error: { code: 'not_permitted' } } }
  const text = { to: phone, type: 'text', text: { body: 'hi' } }
  expect(await member.call(`${at}/messages`, { method: 'POST', body: text })).toMatchObject(refused)
  expect(await member.call(`${at}/messages/${id}/again`, { method: 'POST' })).toMatchObject(refused)
})

test('a message of another workspace or with an unknown or malformed ID is not found', async () => {
  const { at, person } = await setUp()
  const other = await setUp()
  const { id } = await other.sendText(phone)
  const unknown = `msg_${newUuid()}`
  for (const path of [`/messages/${id}`, `/messages/${unknown}`]) {
    expect(await person.call(at + path), path).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    expect((await person.call(`${at}${path}/again`, { method: 'POST' })).status).toBe(404)
  }
  expect((await person.call(`${other.at}/messages`)).status).toBe(404)
  expect((await person.call(`${at}/messages?q=${id}`)).body.data).toEqual([])
  expect((await person.call(`${at}/messages?template=tpl_x`)).status).toBe(400)
  expect((await person.call(`${at}/messages?from=2026-13-45T00:00Z`)).status).toBe(400)
  expect((await person.call(`${at}/messages?colour=red`)).status).toBe(400)
  expect((await person.call(`${at}/messages/nonsense`)).status).toBe(404)
})

test('a message sent from the console costs credits, is in the audit log, and no API key can read it', async () => {
  const { at, person, timeline, workspace, taken } = await setUp()
  const to = '16505550177'
  const send = (body: object) => person.call(`${at}/messages`, { method: 'POST', body })
  const { status, body } = await send({ to, type: 'text', text: { body: 'from the console' } })
  expect(status).toBe(202)
  await sending.drain()
  expect(taken(to)).toHaveLength(1)
  expect(await timeline(body.id)).toMatchObject({
    status: 'read',
    author: { kind: 'person', name: person.email },
    api_request: null,
    credits: { spent: 1 },
  })
  expect((await workspace.call(`/v1/messages/${body.id}`)).status).toBe(404)
  expect((await workspace.call('/v1/messages')).body).toMatchObject({ total: 0 })
  const rows = await server.db.rows('select action, target, actor from audit_entries where target = $1', [body.id])
  expect(rows).toEqual([{ action: 'message.send', target: body.id, actor: person.email }])
  expect(await send({ to: 'invalid', type: 'text' })).toMatchObject({
    status: 400,
    body: { error: { code: 'validation_failed', errors: expect.any(Array) } },
  })
})

test('sending again creates a new message from the same request', async () => {
  const { at, person, timeline, sendText } = await setUp()
  const before = await sendText(phone, { text: { body: 'twice' }, reference: 'R' })
  await sending.drain()
  const { status, body } = await person.call(`${at}/messages/${before.id}/again`, { method: 'POST' })
  expect(status).toBe(202)
  expect(body.id).not.toBe(before.id)
  await sending.drain()
  expect(await timeline(body.id)).toMatchObject({
    request: { text: { body: 'twice' }, reference: 'R' },
    status: 'read',
  })
  const [entry] = await server.db.rows<{ after: object }>('select after from audit_entries where target = $1', [
    body.id,
  ])
  expect(entry?.after).toMatchObject({ again: before.id })
})

test('without credits or in a suspended workspace no role can send', async () => {
  for (const role of roles.filter((each) => each !== 'member')) {
    const shop = await sending.newShop(0)
    const person = await signedIn(server, { workspaceId: shop.workspace.id, role })
    const path = `/w/${shop.workspace.id}/messages`
    const text = { method: 'POST', body: { to: phone, type: 'text', text: { body: 'hi' } } }
    expect(await person.call(path, text)).toMatchObject({ status: 402 })
    await suspendWorkspace(server.db, server.clock, shop.workspace.id, 'unpaid')
    expect(await person.call(path, text)).toMatchObject({
      status: 403,
      body: { error: { code: 'workspace_suspended' } },
    })
    expect((await person.call(path)).body.data).toEqual([])
  }
})
