import { expect, test } from 'vitest'
import type { Json } from '../../json.ts'
import { businessNumber, demoSecrets, newWorld, numberId, phone, text } from '../../testing/world.ts'

const interactive = (type: string, action: Json, more: Json = {}) => ({
  type: 'interactive',
  interactive: { type, body: { text: 'Choose' }, action, ...more },
})
const replies = (...titles: string[]) =>
  titles.map((title, index) => ({ type: 'reply', reply: { id: `b${index}`, title } }))
const rows = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `r${index}`, title: `Row ${index}` }))
const flow = (change: Json = {}) => ({
  name: 'flow',
  parameters: {
    flow_message_version: '3',
    flow_id: '800000000000001',
    flow_cta: 'Open',
    flow_action: 'navigate',
    flow_action_payload: { screen: 'DETAILS' },
    ...change,
  },
})

const card = (card_index: number, change: Json = {}): Json => ({
  card_index,
  type: 'cta_url',
  header: { type: 'image', image: { link: 'https://cdn.example/a.png' } },
  action: { name: 'cta_url', parameters: { display_text: 'Buy', url: 'https://x.example' } },
  ...change,
})
const quickReplies = (...titles: string[]): Json => ({
  action: { buttons: titles.map((title) => ({ type: 'quick_reply', quick_reply: { id: title, title } })) },
})
const product: Json = {
  type: 'product',
  action: { catalog_id: '300000000000001', product_retailer_id: 'SKU-1' },
}
const carousel = (...cards: Json[]) => interactive('carousel', { cards })
const address = (parameters: Json) => interactive('address_message', { name: 'address_message', parameters })

const callButton = (parameters: Json): Json => ({ name: 'voice_call', parameters })
const order = (change: Json = {}): Json => ({
  name: 'review_and_pay',
  parameters: {
    reference_id: 'order-1001',
    type: 'physical-goods',
    currency: 'BRL',
    total_amount: { value: 50_000, offset: 100 },
    payment_settings: [{ type: 'payment_link', payment_link: { uri: 'https://pay.example/1001' } }],
    ...change,
  },
})
const orderStatus = (parameters: Json): Json => ({
  name: 'review_order',
  parameters: { reference_id: 'order-1001', ...parameters },
})

const valid: Json[] = [
  text('x'.repeat(4096)),
  { text: { body: 'text is the default type' } },
  { type: 'image', image: { link: 'https://cdn.example/a.png', caption: 'A' } },
  { type: 'location', location: { latitude: 0, longitude: '-122.1', name: 'Cafe' } },
  {
    type: 'contacts',
    contacts: [{ name: { formatted_name: 'Bea Diaz', first_name: 'Bea' }, phones: [{ phone: '+1' }] }],
  },
  interactive(
    'button',
    { buttons: replies('Yes', 'No', 'Later') },
    { header: { type: 'text', text: 'Hi' }, footer: { text: 'f' } },
  ),
  interactive('list', { button: 'See', sections: [{ rows: rows(10) }] }),
  interactive('cta_url', { name: 'cta_url', parameters: { display_text: 'Open', url: 'https://x.example' } }),
  interactive('flow', flow()),
  interactive('flow', flow({ flow_id: undefined, flow_name: 'Patient intake' })),
  interactive('location_request_message', { name: 'send_location' }),
  interactive('contact_request', { name: 'request_contact_info' }),
  interactive('request_contact_info', { name: 'request_contact_info' }),
  interactive('product', { catalog_id: '300000000000001', product_retailer_id: 'SKU-1' }),
  interactive(
    'product_list',
    { catalog_id: '300000000000001', sections: [{ title: 'All', product_items: [{ product_retailer_id: 'SKU-2' }] }] },
    { header: { type: 'text', text: 'Menu' } },
  ),
  interactive('catalog_message', { name: 'catalog_message' }),
  interactive('flow', flow({ flow_cta: 'x'.repeat(30), flow_action_payload: { data: { a: 1 } } })),
  carousel(card(0), card(1)),
  carousel(card(0, quickReplies('A', 'B')), card(1, quickReplies('C', 'D'))),
  carousel(card(0, product), card(1, product)),
  address({ country: 'IN' }),
  interactive('call_permission_request', { name: 'call_permission_request' }),
  interactive('call_permission_request', { name: 'call_permission_request' }, { body: undefined }),
  interactive('voice_call', { name: 'voice_call' }),
  interactive('voice_call', callButton({ display_text: 'Call us', ttl_minutes: 100, payload: 'a' })),
  interactive('order_details', order()),
  interactive('order_status', orderStatus({ order: { status: 'shipped', description: 'On its way' } })),
  interactive('order_status', orderStatus({ payment: { status: 'captured' } })),
  { ...text('x'), recipient_identity_key_hash: 'DF2lS5v2W6x=' },
]

const invalid: [message: Json, code: number, pattern?: RegExp][] = [
  [{ messaging_product: undefined, ...text('x') }, 100, /The parameter messaging_product is required/],
  [{ messaging_product: 'telegram', ...text('x') }, 100],
  [{ to: undefined, ...text('x') }, 100, /The parameter to is required/],
  [{ to: 'me', ...text('x') }, 131009],
  [{ to: `+${businessNumber}`, ...text('x') }, 131021],
  [{ recipient_type: 'everyone', ...text('x') }, 131009],
  [{ to: undefined, recipient: 'nope', ...text('x') }, 131009],
  [{ to: undefined, recipient: 'US.99', ...text('x') }, 131009],
  [{ type: 'hologram' }, 100, /Param type must be one of \{AUDIO, .*\} - got "hologram"/],
  [{ type: 'constructor', constructor: {} }, 100],
  [interactive('constructor', {}, { header: { type: 'text', text: 'x' } }), 131009],
  [{ type: { toString: 1 } }, 100],
  [{ status: { toString: 1 } }, 100],
  [{ messaging_product: { toString: 1 } }, 100],
  [{ type: 'poll' }, 131051],
  [{ type: 'text' }, 131008, /Parameter 'text' is mandatory for type 'text'/],
  [{ type: 'text', text: 'x' }, 100],
  [text(''), 100, /The parameter text\['body'\] is required/],
  [text('x'.repeat(4097)), 100, /Param text\['body'\] must be at most 4096 characters long/],
  [{ ...text('x'), context: {} }, 131008],
  [{ ...text('x'), biz_opaque_callback_data: 'x'.repeat(513) }, 100],
  [{ type: 'image', image: {} }, 131008],
  [{ type: 'image', image: { id: '1' } }, 100, /is not a valid whatsapp business account media attachment ID/],
  [{ type: 'image', image: { link: 'file:///etc/passwd' } }, 100],
  [{ type: 'image', image: { id: '1', link: 'https://x.example' } }, 131009],
  [{ type: 'image', image: { link: 'https://x.example', caption: 'x'.repeat(1025) } }, 100],
  [{ type: 'location', location: { latitude: 91, longitude: 0 } }, 131009],
  [{ type: 'location', location: { latitude: 'north', longitude: 0 } }, 131009],
  [{ type: 'location', location: { longitude: 0 } }, 131008],
  [{ type: 'contacts', contacts: [] }, 131008],
  [{ type: 'contacts', contacts: [{ name: { formatted_name: 'Only' } }] }, 131009],
  [{ type: 'reaction', reaction: { message_id: 'wamid.X', emoji: 'abc' } }, 131009],
  [{ type: 'reaction', reaction: { message_id: 'wamid.X' } }, 131008],
  [interactive('dance', {}), 131009],
  [interactive('button', { buttons: replies('1', '2', '3', '4') }), 131009, /Max allowed buttons: 3/],
  [
    interactive('button', { buttons: replies('x'.repeat(21)) }),
    131009,
    /Button title length invalid. Min length: 1, Max length: 20/,
  ],
  [interactive('button', { buttons: replies('Yes', 'Yes') }), 131009],
  [interactive('list', { button: 'See', sections: [{ rows: rows(11) }] }), 131009],
  [interactive('list', { button: 'See', sections: [{ rows: rows(1) }, { rows: rows(1) }] }), 131009],
  [interactive('list', { button: 'x'.repeat(21), sections: [{ rows: rows(1) }] }), 131009],
  [interactive('cta_url', { name: 'cta_url', parameters: { display_text: 'Open', url: 'nope' } }), 131009],
  [interactive('flow', flow({ flow_id: '1' })), 131009],
  [interactive('flow', flow({ flow_cta: 'Open 👍' })), 131009],
  [interactive('flow', flow({ flow_cta: 'x'.repeat(31) })), 131009],
  [carousel(card(0)), 131009],
  [carousel(card(0), card(0)), 131009],
  [carousel(card(0), card(1, quickReplies('A'))), 131009],
  [carousel(card(0, { header: undefined }), card(1)), 131008],
  [carousel(card(0, { action: {} }), card(1)), 131009],
  [carousel(card(0, { body: { text: 'x'.repeat(161) } }), card(1)), 131009],
  [address({}), 131008],
  [address({ country: 'DE' }), 131009],
  [interactive('order_details', { name: 'review_and_pay' }), 131008],
  [interactive('order_details', { name: 'review_order' }), 131009],
  [interactive('order_details', order({ total_amount: { value: '1' } })), 131008],
  [interactive('order_details', order({ currency: undefined })), 131008],
  [interactive('order_status', orderStatus({})), 131008],
  [interactive('voice_call', callButton({ ttl_minutes: 43_201 })), 131009],
  [interactive('voice_call', callButton({ payload: 'x'.repeat(513) })), 131009],
  [{ ...text('x'), recipient_identity_key_hash: 7 }, 100],
  [interactive('flow', flow({ flow_action_payload: { screen: 'DETAILS', data: {} } })), 131009],
  [interactive('product', { catalog_id: '300000000000001', product_retailer_id: 'SKU-9' }), 131009],
  [{ type: 'interactive', interactive: { type: 'button', action: { buttons: replies('Yes') } } }, 131008],
]

test('every type of message can be sent', async () => {
  const { send, control } = await newWorld()
  control.switches.set({ throughputLimit: false })
  await control.phones.say(phone, { to: numberId, text: 'hi' })
  for (const message of valid)
    expect((await send(message)).body, JSON.stringify(message).slice(0, 200)).toHaveProperty('messages')
})

test('invalid messages return the expected code and details', async () => {
  const { send } = await newWorld()
  for (const [message, code, pattern] of invalid) {
    const response = await send(message)
    expect(response.code, `${JSON.stringify(message).slice(0, 200)} → ${JSON.stringify(response.body)}`).toBe(code)
    expect(response.status).toBe(400)
    if (pattern) expect(JSON.stringify(response.body).replaceAll('\\"', '"')).toMatch(pattern)
  }
})

test('an unknown, expired or revoked token, or one without access, returns its error', async () => {
  const { graph, control } = await newWorld()
  const getNumber = (token: string) => graph('GET', numberId, undefined, token)
  expect(await getNumber('nonsense')).toMatchObject({
    status: 401,
    body: { error: { code: 190, type: 'OAuthException' } },
  })
  control.tokens.create({ token: 'old', appId: '600000000000001', expiresAt: '2026-01-01T00:00:00Z' })
  expect(await getNumber('old')).toMatchObject({ status: 401, body: { error: { code: 190, error_subcode: 463 } } })
  control.tokens.change(demoSecrets.accessToken, { revoked: true })
  expect(await getNumber(demoSecrets.accessToken)).toMatchObject({ status: 401, body: { error: { code: 0 } } })
  control.tokens.create({ token: 'foreign', appId: '600000000000001', wabaIds: [] })
  expect(await getNumber('foreign')).toMatchObject({
    status: 400,
    body: { error: { code: 100, error_subcode: 33, type: 'GraphMethodException' } },
  })
})

test('only a registered number can send, and a test number only to its allowed recipients', async () => {
  const { send, graph, control } = await newWorld()
  control.numbers.change(numberId, { status: 'PENDING' })
  expect((await send(text('x'))).code).toBe(133010)
  expect((await graph('POST', `${numberId}/register`, { messaging_product: 'whatsapp', pin: '12' })).status).toBe(400)
  expect((await graph('POST', `${numberId}/register`, { messaging_product: 'whatsapp', pin: '314159' })).body).toEqual({
    success: true,
  })
  expect(
    (await graph('POST', `${numberId}/register`, { messaging_product: 'whatsapp', pin: '000000' })).body,
  ).toMatchObject({ error: { code: 133005 } })
  control.numbers.change(numberId, { allowedRecipients: ['+1 650 555 0999'] })
  expect((await send(text('x'))).code).toBe(131030)
  expect((await send({ ...text('x'), to: '16505550999' })).status).toBe(200)
})

test('only the number that received a message can mark it as read', async () => {
  const { graph, control } = await newWorld()
  const { id } = await control.phones.say(phone, { to: numberId, text: 'seen?' })
  const read = (message_id: unknown, number = numberId) =>
    graph('POST', `${number}/messages`, {
      messaging_product: 'whatsapp',
      status: 'read',
      message_id,
      typing_indicator: { type: 'text' },
    })
  expect((await read(id)).body).toEqual({ success: true })
  expect((await read(id, '106540000000002')).body).toMatchObject({ error: { code: 131009 } })
  expect((await read('wamid.X')).body).toMatchObject({ error: { code: 131009 } })
})

test('a message to a user ID reports the user ID and not the hidden phone number', async () => {
  const { send, control, receiver } = await newWorld()
  const bea = control.phones.get('16505550199')
  await control.phones.say(bea.waId, { to: numberId, text: 'hi' })
  const { id, body } = await send({ to: undefined, recipient: bea.userId, ...text('hello') })
  expect(body.contacts).toEqual([{ input: bea.userId, user_id: bea.userId }])
  const [status] = receiver.statusesOf(id)
  expect(status).toMatchObject({ recipient_user_id: bea.userId })
  expect(status).not.toHaveProperty('recipient_id')
})

test('a reaction is reported only as sent, and fails for an unknown message', async () => {
  const { send, control, receiver } = await newWorld()
  const inbound = await control.phones.say(phone, { to: numberId, text: 'hi' })
  const reaction = await send({ type: 'reaction', reaction: { message_id: inbound.id, emoji: '❤️' } })
  const toUnknown = await send({ type: 'reaction', reaction: { message_id: 'wamid.X', emoji: '' } })
  await control.clock.advance(60_000)
  expect(receiver.statusesOf(reaction.id).map((one) => one.status)).toEqual(['sent'])
  expect(receiver.statusesOf(toUnknown.id)).toMatchObject([{ status: 'failed', errors: [{ code: 131009 }] }])
})
