import type { Message } from '@parley/contract/message'
import { sendExamples } from '@parley/contract/send-examples'
import type { Template } from '@parley/contract/template'
import { expect, test } from 'vitest'
import { eventsOf } from '../../../../testing/network-app.ts'
import { type TestShop, useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { syncConnection } from '../../connections/sync.ts'
import { readBalance } from '../../credits/credits.ts'

const server = useTestServer()
const sending = useSending(server)

test('POST /v1/messages returns 202, and the message is sent, delivered and read', async () => {
  const shop = await sending.newShop()
  const { status, body } = await shop.send({ to: '+16505550123', type: 'text', text: { body: 'hi' }, reference: 'a' })
  expect(status).toBe(202)
  expect(body).toEqual({
    id: expect.stringMatching(/^msg_/),
    object: 'message',
    sender_id: shop.senderId,
    to: '16505550123',
    to_user_id: null,
    type: 'text',
    template_id: null,
    reference: 'a',
    status: 'queued',
    wa_message_id: null,
    credits: 1,
    error: null,
    pricing: null,
    created_at: server.clock.now().toISOString(),
    sent_at: null,
    delivered_at: null,
    read_at: null,
    failed_at: null,
  })
  const { id } = body as { id: string }
  await sending.drain()
  expect(shop.taken('16505550123')).toMatchObject([{ ourId: id, content: { body: 'hi' } }])
  const message = await shop.look(id)
  expect(message).toMatchObject({ status: 'read', wa_message_id: expect.stringMatching(/^wamid\./), error: null })
  expect(message.history.map((step) => step.status)).toEqual(['queued', 'sent', 'delivered', 'read'])
  const events = await eventsOf(server, shop.workspace.id)
  // The network's statuses arrive in any order.
  expect(events.map(({ type, data }) => [type, data.message_id]).sort()).toEqual([
    ['message.delivered', id],
    ['message.read', id],
    ['message.sent', id],
  ])
})

const to = '16505550123'
const button = { type: 'reply', reply: { id: 'yes', title: 'Yes' } }
const card = (card_index: number) => ({
  card_index,
  type: 'cta_url',
  header: { type: 'image', image: { link: 'https://example.com/a.png' } },
  action: { buttons: [{ type: 'quick_reply', quick_reply: { id: `more-${card_index}`, title: 'More' } }] },
})
const carousel = { type: 'carousel', body: { text: 'New' }, action: { cards: [card(0), card(1)] } }
const askAddress = { name: 'address_message', parameters: { country: 'IN', values: { name: 'Ana' } } }

const askContact = { body: { text: 'Your number?' }, action: { name: 'request_contact_info' } }

test.each([
  { type: 'text', text: { body: 'hi' } },
  { type: 'template', template: { name: 'greeting', language: 'en', variables: { 'body.1': 'Ana' } } },
  { type: 'image', image: { link: 'https://example.com/a.png', caption: 'a' } },
  { type: 'video', video: { link: 'https://example.com/a.mp4' } },
  { type: 'audio', audio: { link: 'https://example.com/a.ogg', voice: true } },
  { type: 'document', document: { link: 'https://example.com/a.pdf', filename: 'a.pdf' } },
  { type: 'sticker', sticker: { link: 'https://example.com/a.webp' } },
  { type: 'location', location: { latitude: 40.4, longitude: -3.7, name: 'Here' } },
  { type: 'location', location: { latitude: '40.4', longitude: '-3.7' } },
  { type: 'interactive', interactive: { type: 'request_contact_info', ...askContact } },
  { type: 'interactive', interactive: { type: 'contact_request', ...askContact } },
  { type: 'contacts', contacts: [{ name: { formatted_name: 'Ana B', first_name: 'Ana' } }] },
  { type: 'interactive', interactive: carousel },
  { type: 'interactive', interactive: { type: 'address_message', body: { text: 'Where?' }, action: askAddress } },
  {
    type: 'template',
    template: {
      name: 'greeting',
      language: 'en',
      variables: { 'body.1': { date_time: { fallback_value: '3 May', month: 5, day_of_month: 3 } } },
    },
  },
  { type: 'interactive', interactive: { type: 'button', body: { text: 'Come?' }, action: { buttons: [button] } } },
])('a $type message reaches the network', async (body) => {
  const shop = await sending.newShop(1)
  const { status, body: message } = await shop.send({ to, ...body })
  expect([status, message]).toMatchObject([202, { type: body.type }])
  await sending.drain()
  expect(await shop.look((message as Message).id)).toMatchObject({ status: 'read' })
  if (body.interactive) expect(shop.taken(to)).toMatchObject([{ content: { type: body.interactive.type } }])
})

test.each(['request_contact_info', 'call_permission_request', 'voice_call', 'order_details', 'order_status'] as const)(
  'the network receives a %s as it was given',
  async (kind) => {
    const shop = await sending.newShop(1)
    const { interactive, ...example } = sendExamples[kind]
    expect((await shop.send({ ...example, interactive })).status).toBe(202)
    await sending.drain()
    expect(received(shop)).toMatchObject({ type: 'interactive', interactive: { type: kind } })
    expect(received(shop).interactive).toEqual(interactive)
  },
)

test('the network receives the identity of the recipient, the page of a tap, and the values of a call button', async () => {
  const shop = await sending.newShop(1)
  const buttons = { type: 'BUTTONS', buttons: [{ type: 'VOICE_CALL', text: 'Call us' }] }
  shop.account.addTemplate({ name: 'call_us', components: [{ type: 'BODY', text: 'Questions?' }, buttons] })
  await syncConnection(sending.network.network, shop.connection.id)
  const page = [{ url: 'https://shop.example/offers', title: 'Offers' }]
  const template = {
    name: 'call_us',
    language: 'en',
    variables: { 'buttons.0.ttl_minutes': 100, 'buttons.0.payload': 'order 1001' },
    tap_target_configuration: page,
  }
  const identity = { recipient_identity_key_hash: 'DF2lS5v2W6x=' }
  expect((await shop.send({ to, type: 'template', template, ...identity })).status).toBe(202)
  await sending.drain()
  const type = 'tap_target_configuration'
  expect(received(shop)).toEqual({
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: `+${to}`,
    ...identity,
    type: 'template',
    template: {
      name: 'call_us',
      language: { code: 'en' },
      components: [
        {
          type: 'button',
          sub_type: 'voice_call',
          index: '0',
          parameters: [
            { type: 'ttl_minutes', ttl_minutes: 100 },
            { type: 'payload', payload: 'order 1001' },
          ],
        },
        { type, parameters: [{ type, tap_target_configuration: page }] },
      ],
    },
    biz_opaque_callback_data: expect.stringMatching(/^msg_/),
  })
})

/** The body of the last send request that the network received from the number of a shop. */
function received(shop: TestShop): Record<string, unknown> {
  const numberId = sending.network.control.numbers
    .list()
    .find(({ phoneNumber }) => phoneNumber === shop.account.phoneNumber)?.id
  const call = sending.network.control.log
    .list()
    .findLast((entry) => entry.kind === 'call' && entry.url.includes(`/${numberId}/messages`))
  return JSON.parse(call?.kind === 'call' ? call.request : 'null')
}

test('a contact’s birthday must be a date that exists', async () => {
  const shop = await sending.newShop(1)
  const send = (birthday: string) =>
    shop.send({ to, type: 'contacts', contacts: [{ name: { formatted_name: 'Ana B', first_name: 'Ana' }, birthday }] })
  const message = 'Enter a date that exists, such as 1990-12-31.'
  for (const birthday of ['2026-02-31', '2023-02-29', '1990-13-01', '0000-01-01', '31.12.1990']) {
    expect(await send(birthday)).toMatchObject({
      status: 400,
      body: { error: { errors: [{ param: 'contacts.0.birthday', code: 'invalid', message }] } },
    })
  }
  expect((await send('2024-02-29')).status).toBe(202)
})

test('a reply or a reaction must refer to a sent or received message of the same sender', async () => {
  const [shop, other] = [await sending.newShop(), await sending.newShop()]
  const ours = await shop.sendText(to)
  const theirs = await other.sendText(to)
  const early = await shop.send({ to, type: 'text', text: { body: 're' }, in_reply_to: ours.id })
  expect(early.body).toMatchObject({ error: { errors: [{ param: 'in_reply_to', code: 'not_sent' }] } })
  await sending.drain()
  await sending.network.control.phones.say(to, { to: shop.account.phoneNumber, text: 'hello back' })
  await sending.network.control.idle()
  const events = await eventsOf(server, shop.workspace.id)
  const received = events.find(({ type }) => type === 'message.received')?.data as Record<string, string>
  for (const id of [ours.id, received.message_id]) {
    const reply = await shop.send({ to, type: 'text', text: { body: 're' }, in_reply_to: id })
    expect(reply.status).toBe(202)
  }
  for (const message_id of [received.message_id, received.wa_message_id]) {
    const reaction = await shop.send({ to, type: 'reaction', reaction: { message_id, emoji: '👍' } })
    expect(reaction.status).toBe(202)
    await sending.drain()
    expect(await shop.look((reaction.body as Message).id)).toMatchObject({ status: 'sent', error: null })
  }
  for (const id of [theirs.id, 'msg_01890000-0000-7000-8000-000000000000']) {
    const reply = await shop.send({ to, type: 'text', text: { body: 're' }, in_reply_to: id })
    expect(reply.body).toMatchObject({ error: { errors: [{ param: 'in_reply_to', code: 'not_found' }] } })
    const reaction = await shop.send({ to, type: 'reaction', reaction: { message_id: id, emoji: '' } })
    expect(reaction.body).toMatchObject({ error: { errors: [{ param: 'reaction.message_id', code: 'not_found' }] } })
  }
})

test('a form token is the caller’s or generated, is sent to the network, and is stored', async () => {
  const shop = await sending.newShop()
  const form = { type: 'FLOW', text: 'Open', flow_id: '800000000000001', navigate_screen: 'A', flow_action: 'navigate' }
  shop.account.addTemplate({
    name: 'form',
    components: [
      { type: 'BODY', text: 'Please fill this in.' },
      { type: 'BUTTONS', buttons: [form] },
    ],
  })
  await server.db.change('update connections set sync_due_at = $1', [server.clock.now()])
  await sending.network.drain()
  const send = async (flow?: object) => {
    const template = { name: 'form', language: 'en', ...(flow && { flow }) }
    return (await shop.send({ to, type: 'template', template })).body as Message
  }
  const messages = [await send({ token: 'mine', data: { a: 1 } }), await send()]
  await sending.drain()
  const stored = await server.db.rows<{ token: string }>(
    'select message_id, token, template_id, flow_id, recipient from flow_tokens where workspace_id = $1 order by message_id',
    [shop.workspace.id],
  )
  expect(stored).toEqual(
    messages.map(({ id, template_id }, index) => ({
      message_id: id.slice(4),
      token: index === 0 ? 'mine' : expect.stringMatching(/^flow_\w{24}$/),
      template_id: template_id?.slice(4),
      flow_id: '800000000000001',
      recipient: to,
    })),
  )
  const taken = JSON.stringify(shop.taken(to))
  for (const { token } of stored) expect(taken).toContain(token)
})

const invalid: [name: string, body: object, params: string[]][] = [
  ['an empty body', {}, ['to', 'type']],
  [
    'a body with several errors',
    { to: 'x', type: 'text', text: { body: '' }, colour: 'red' },
    ['to', 'text.body', 'colour'],
  ],
  [
    'a read-only field',
    { to, type: 'text', text: { body: 'a' }, status: 'sent', workspace_id: 'x' },
    ['status', 'workspace_id'],
  ],
  ['the content of another type', { to, type: 'text', image: { id: '1' } }, ['text', 'image']],
  [
    'an unknown sender',
    { to, type: 'text', text: { body: 'a' }, sender_id: 'snd_01890000-0000-7000-8000-000000000000' },
    ['sender_id'],
  ],
  ['an unknown template', { to, type: 'template', template: { name: 'no', language: 'en' } }, ['template.name']],
  [
    'a template that is not approved',
    { to, type: 'template', template: { name: 'paused', language: 'en' } },
    ['template.name'],
  ],
  [
    'newer fields with wrong values',
    {
      to,
      type: 'template',
      template: { name: 'greeting', language: 'en', variables: { 'body.1': 'a' }, tap_target_configuration: [{}] },
      recipient_identity_key_hash: '',
    },
    [
      'recipient_identity_key_hash',
      'template.tap_target_configuration.0.title',
      'template.tap_target_configuration.0.url',
    ],
  ],
  [
    'missing and unknown variables with an invalid number',
    { to: '0', type: 'template', template: { name: 'greeting', language: 'en', variables: { 'body.2': 'x' } } },
    ['to', 'template.variables.body.1', 'template.variables.body.2'],
  ],
]

test.each(invalid)('%s gets 400 with an error per field, and costs nothing', async (_name, body, params) => {
  const shop = await sending.newShop(1)
  shop.account.addTemplate({ name: 'paused', status: 'PAUSED', components: [{ type: 'BODY', text: 'Hi.' }] })
  await server.db.change('update connections set sync_due_at = $1', [server.clock.now()])
  await sending.network.drain()
  const { status, body: response } = await shop.send(body)
  expect(status).toBe(400)
  const { errors } = (response as { error: { errors: { param: string }[] } }).error
  expect(errors.map(({ param }) => param).sort()).toEqual([...params].sort())
  expect(await readBalance(server.db, shop.workspace.id)).toBe(1)
  expect(await server.db.rows('select 1 from messages where workspace_id = $1', [shop.workspace.id])).toEqual([])
})

test('a template with parts that cannot be filled is refused before anything is spent', async () => {
  const shop = await sending.newShop(1)
  const buttons = { type: 'BUTTONS', buttons: [{ type: 'ORDER_DETAILS', text: 'Review and pay' }] }
  shop.account.addTemplate({ name: 'pay_order', components: [{ type: 'BODY', text: 'Hi {{1}}.' }, buttons] })
  await syncConnection(sending.network.network, shop.connection.id)
  const { body: listed } = await shop.workspace.call('/v1/templates?name=pay_order')
  const [{ id = '', not_sendable_reason = '' } = {}] = (listed as { data: Partial<Template>[] }).data
  for (const template of [{ id }, { name: 'pay_order', language: 'en', variables: { 'body.1': 'Ana' } }]) {
    expect(await shop.send({ to, type: 'template', template })).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'validation_failed',
          param: 'template',
          errors: [{ param: 'template', code: 'template_not_sendable', message: not_sendable_reason }],
        },
      },
    })
  }
  expect(await readBalance(server.db, shop.workspace.id)).toBe(1)
})

test('a template in a wrong language gets 400 with the languages that it has', async () => {
  const shop = await sending.newShop(1)
  for (const language of ['es', 'pt_BR']) shop.account.addTemplate({ name: 'greeting', language })
  await syncConnection(sending.network.network, shop.connection.id)
  // The sender cannot use the templates of another account.
  const other = sending.network.newAccount()
  other.addTemplate({ name: 'greeting', language: 'fr' })
  await other.connect(shop.workspace)
  const send = (name: string, language: string) =>
    shop.send({ to, sender_id: shop.senderId, type: 'template', template: { name, language } })
  const refused = (param: string, message: string) => ({
    status: 400,
    body: { error: { errors: [{ param, code: 'not_found', message }] } },
  })
  expect(await send('greeting', 'it')).toMatchObject(
    refused('template.language', 'The template has no such language. Its languages are: en, es, pt_BR.'),
  )
  expect(await send('no', 'en')).toMatchObject(refused('template.name', 'Template not found.'))
  expect(await send('\0', 'en')).toMatchObject({ status: 400 })
})

test.each(['[]', '"x"', 'null', '7'])('a body of %s gets 400', async (body) => {
  const { workspace } = await sending.newShop()
  const { status } = await workspace.call('/v1/messages', { method: 'POST', body })
  expect(status).toBe(400)
})

test('sender_id is required with several senders, and the sender must be connected', async () => {
  const shop = await sending.newShop()
  await sending.network.newAccount().connect(shop.workspace)
  const codes = async (more: object) => {
    const { body } = await shop.send({ to, type: 'text', text: { body: 'a' }, ...more })
    return (body as { error?: { errors: { code: string }[] } }).error?.errors.map(({ code }) => code)
  }
  expect(await codes({})).toEqual(['missing'])
  expect(await codes({ sender_id: shop.senderId })).toBeUndefined()
  await server.db.change(`update senders set status = 'FLAGGED' where id = $1`, [shop.senderId.slice(4)])
  expect(await codes({ sender_id: shop.senderId })).toEqual(['not_connected'])
  const other = await sending.newShop()
  expect(await codes({ sender_id: other.senderId })).toEqual(['not_found'])
})

test('sending requires messages:send', async () => {
  const { workspace } = await sending.newShop()
  const { secret } = await workspace.newKey({ scopes: ['messages:read'] })
  const response = await server.call('/v1/messages', { method: 'POST', key: secret, body: {} })
  expect([response.status, response.body]).toMatchObject([
    403,
    { error: { code: 'insufficient_scope', details: { required_scope: 'messages:send' } } },
  ])
})
