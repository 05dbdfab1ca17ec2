import { expect, test } from 'vitest'
import type { Json } from '../../json.ts'
import { newWorld, wabaId } from '../../testing/world.ts'

const texts = (...values: string[]) => values.map((text) => ({ type: 'text', text }))
const header = (...parameters: Json[]) => ({ type: 'header', parameters })
const body = (...parameters: Json[]) => ({ type: 'body', parameters })
const button = (sub_type: string, index: number | string, ...parameters: Json[]) => ({
  type: 'button',
  sub_type,
  index,
  parameters,
})
const image = { type: 'image', image: { link: 'https://cdn.example/a.png' } }
const named = (parameter_name: string, text: string) => ({ type: 'text', parameter_name, text })
const detailsUrl = button('url', '2', ...texts('apt_77'))
const place = {
  type: 'location',
  location: { latitude: '37.44', longitude: '-122.16', name: 'Depot', address: '1 Main' },
}
const card = (
  card_index: number,
  components: Json[] = [header(image), body(...texts('$9')), button('url', 1, ...texts('X'))],
) => ({ card_index, components })
const reminder = [header(...texts('Ana')), body(...texts('Mon', '10:00')), detailsUrl]

type Case = [what: string, name: string, language: string, components: Json[], code: number, details?: string | RegExp]

const cases: Case[] = [
  ['no variables', 'hello_world', 'en_US', [], 0],
  ['positional', 'appointment_reminder', 'en_US', reminder, 0],
  [
    'types in capitals',
    'appointment_reminder',
    'en_US',
    reminder.map((one) => ({ ...one, type: one.type.toUpperCase() })),
    0,
  ],
  [
    'a payload for a quick reply',
    'appointment_reminder',
    'en_US',
    [...reminder, button('quick_reply', 0, { type: 'payload', payload: 'YES' })],
    0,
  ],
  [
    'named, in any order',
    'order_update',
    'es',
    [header(image), body(named('order_id', 'A1'), named('first_name', 'Ana')), button('url', 0, ...texts('A1'))],
    0,
  ],
  [
    'a document header',
    'invoice_ready',
    'en',
    [
      header({ type: 'document', document: { link: 'https://cdn.example/i.pdf', filename: 'i.pdf' } }),
      body(...texts('Ana', '$1')),
    ],
    0,
  ],
  ['a location header', 'courier_arriving', 'en_US', [header(place), body(...texts('Ana'))], 0],
  [
    'a coupon',
    'summer_offer',
    'en',
    [body(...texts('Ana')), button('copy_code', 0, { type: 'coupon_code', coupon_code: '25OFF' })],
    0,
  ],
  ['a one-time code, twice', 'otp_login', 'en', [body(...texts('483920')), button('url', '0', ...texts('483920'))], 0],
  ['a form without its button', 'intake_form', 'en', [body(...texts('Ana'))], 0],
  [
    'a form with a token',
    'intake_form',
    'en',
    [
      body(...texts('Ana')),
      button('flow', 0, { type: 'action', action: { flow_token: 'ft_01', flow_action_data: { name: 'Ana' } } }),
    ],
    0,
  ],
  ['a carousel', 'plant_carousel', 'en', [body(...texts('Ana')), { type: 'carousel', cards: [card(0), card(1)] }], 0],
  [
    'money and dates by their fallback',
    'invoice_ready',
    'en',
    [
      header({ type: 'document', document: { link: 'https://cdn.example/i.pdf' } }),
      body(
        { type: 'date_time', date_time: { fallback_value: 'May 1' } },
        { type: 'currency', currency: { fallback_value: '$1', code: 'USD', amount_1000: 1000 } },
      ),
    ],
    0,
  ],

  ['an unknown name', 'missing', 'en', [], 132001, 'template name (missing) does not exist in en'],
  ['another language', 'hello_world', 'es_PE', [], 132001, 'template name (hello_world) does not exist in es_PE'],
  ['a rejected one', 'badly_formed', 'en', [body(...texts('a', 'b'))], 132001],
  ['a paused one', 'spring_sale', 'en', [], 132015],
  [
    'too few',
    'appointment_reminder',
    'en_US',
    [header(...texts('Ana')), body(...texts('Mon')), detailsUrl],
    132000,
    'body: number of localizable_params (1) does not match the expected number of params (2)',
  ],
  [
    'too many',
    'hello_world',
    'en_US',
    [body(...texts('x'))],
    132000,
    'body: number of localizable_params (1) does not match the expected number of params (0)',
  ],
  [
    'no header text',
    'appointment_reminder',
    'en_US',
    [body(...texts('Mon', '10:00')), detailsUrl],
    132000,
    'header: number of localizable_params (0) does not match the expected number of params (1)',
  ],
  [
    'no image',
    'order_update',
    'es',
    [body(named('order_id', 'A1'), named('first_name', 'Ana'))],
    132012,
    'header: Format mismatch, expected IMAGE, received UNKNOWN',
  ],
  [
    'a document for an image',
    'order_update',
    'es',
    [header({ type: 'document', document: { link: 'https://x.example/d.pdf' } })],
    132012,
    'header: Format mismatch, expected IMAGE, received DOCUMENT',
  ],
  [
    'an image for a text',
    'invoice_ready',
    'en',
    [header({ type: 'document', document: { link: 'https://cdn.example/i.pdf' } }), body(image, ...texts('x'))],
    132012,
    'body: Format mismatch, expected TEXT, received IMAGE',
  ],
  ['an unknown media id', 'order_update', 'es', [header({ type: 'image', image: { id: '1' } })], 100],
  [
    'no parameter names',
    'order_update',
    'es',
    [header(image), body(...texts('A1', 'Ana'))],
    100,
    'Parameter name is missing or empty',
  ],
  [
    'an unknown parameter name',
    'order_update',
    'es',
    [header(image), body(named('order_id', 'A1'), named('nick', 'A'))],
    100,
    /nick/,
  ],
  [
    'a repeated parameter name',
    'order_update',
    'es',
    [header(image), body(named('order_id', 'A1'), named('order_id', 'A2'))],
    100,
    'Parameter name is repeated',
  ],
  [
    'no URL suffix',
    'appointment_reminder',
    'en_US',
    [header(...texts('Ana')), body(...texts('Mon', '10:00'))],
    131008,
    'buttons: Button at index 2 of type Url requires a parameter',
  ],
  [
    'no coupon',
    'summer_offer',
    'en',
    [body(...texts('Ana'))],
    131008,
    'buttons: Button at index 0 of type CopyCode requires a parameter',
  ],
  [
    'no index of the button',
    'summer_offer',
    'en',
    [body(...texts('Ana')), { type: 'button', sub_type: 'copy_code', parameters: [] }],
    131008,
    "buttons: 'index' is mandatory",
  ],
  ['no code on the button', 'otp_login', 'en', [body(...texts('483920'))], 131008],
  ['a long code', 'otp_login', 'en', [body(...texts('4839')), button('url', 0, ...texts('1234567890123456'))], 131009],
  [
    'a long coupon',
    'summer_offer',
    'en',
    [body(...texts('Ana')), button('copy_code', 0, { type: 'coupon_code', coupon_code: 'X'.repeat(21) })],
    131009,
  ],
  [
    'another kind of button',
    'appointment_reminder',
    'en_US',
    [...reminder.slice(0, 2), button('quick_reply', 2, { type: 'payload', payload: 'x' })],
    132012,
  ],
  [
    'a button that is not there',
    'appointment_reminder',
    'en_US',
    [...reminder, button('url', 9, ...texts('x'))],
    131009,
  ],
  [
    'a parameter for the phone button',
    'appointment_reminder',
    'en_US',
    [...reminder, button('url', 3, ...texts('x'))],
    131009,
  ],
  [
    'a new line',
    'intake_form',
    'en',
    [body(...texts('A\nB'))],
    132018,
    'Param text cannot have new-line/tab characters or more than 4 consecutive spaces',
  ],
  ['a tab', 'intake_form', 'en', [body(...texts('A\tB'))], 132018],
  ['five spaces', 'intake_form', 'en', [body(...texts('A     B'))], 132018],
  ['an empty text', 'intake_form', 'en', [body(...texts(''))], 132018],
  ['a text too long', 'intake_form', 'en', [body(...texts('x'.repeat(1100)))], 132005],
  [
    'empty form data',
    'intake_form',
    'en',
    [body(...texts('Ana')), button('flow', 0, { type: 'action', action: { flow_action_data: {} } })],
    131009,
  ],
  [
    'no latitude',
    'courier_arriving',
    'en_US',
    [header({ type: 'location', location: { longitude: '1' } }), body(...texts('Ana'))],
    131008,
  ],
  ['a card missing', 'plant_carousel', 'en', [body(...texts('Ana')), { type: 'carousel', cards: [card(0)] }], 132012],
  [
    'a card without its image',
    'plant_carousel',
    'en',
    [
      body(...texts('Ana')),
      { type: 'carousel', cards: [card(0), card(1, [body(...texts('$9')), button('url', 1, ...texts('X'))])] },
    ],
    132012,
  ],
  ['an unknown component', 'hello_world', 'en_US', [{ type: 'sidebar' }], 100],
]

test('a template with valid parameters is sent, and invalid parameters return their error', async () => {
  const { send, control } = await newWorld()
  control.switches.set({ pairLimit: false, throughputLimit: false })
  for (const [what, name, code, components, expected, details] of cases) {
    const response = await send({ type: 'template', template: { name, language: { code }, components } })
    expect(response.code, `${what}: ${JSON.stringify(response.body)}`).toBe(expected)
    if (expected === 132001) expect(response.status).toBe(404)
    if (details) expect(response.details, what).toMatch(details)
  }
})

test('a call button takes its minutes and a payload, and a message can open a page', async () => {
  const { send, control } = await newWorld()
  const buttons = [{ type: 'VOICE_CALL', text: 'Call us' }]
  const components = [
    { type: 'BODY', text: 'Questions?' },
    { type: 'BUTTONS', buttons },
  ]
  control.templates.create({
    wabaId,
    name: 'call_us',
    language: 'en',
    category: 'UTILITY',
    status: 'APPROVED',
    components,
  })
  const sent = async (...components: Json[]) =>
    (await send({ type: 'template', template: { name: 'call_us', language: { code: 'en' }, components } })).code ?? 0
  const minutes = (ttl_minutes: unknown) => ({ type: 'ttl_minutes', ttl_minutes })
  const call = (...parameters: Json[]) => ({ type: 'button', sub_type: 'voice_call', parameters })
  const type = 'tap_target_configuration'
  const target = (...pages: Json[]) => ({ type, parameters: [{ type, [type]: pages }] })
  expect(await sent(call(minutes(100), { type: 'payload', payload: 'p' }))).toBe(0)
  expect(await sent({ ...call(minutes(43_200)), index: '0' })).toBe(0)
  expect(await sent(call(minutes(0)))).toBe(131009)
  expect(await sent(call(minutes(1), minutes(1), minutes(1)))).toBe(132000)
  expect(await sent(target({ url: 'https://shop.example', title: 'Offers' }))).toBe(0)
  expect(await sent(target({ url: 'https://shop.example' }))).toBe(131008)
})

test('a one-time code cannot be sent to a user ID', async () => {
  const { send, control } = await newWorld()
  const { userId } = control.phones.get('16505550123')
  const otp = {
    name: 'otp_login',
    language: { code: 'en' },
    components: [body(...texts('1')), button('url', 0, ...texts('1'))],
  }
  expect(await send({ to: undefined, recipient: userId, type: 'template', template: otp })).toMatchObject({
    status: 400,
    code: 131062,
  })
})

test('a new template is pending, then approved or rejected, with a webhook to the app', async () => {
  const { graph, control, receiver, send } = await newWorld()
  const input = (name: string, change: Json = {}) => ({
    name,
    language: 'en',
    category: 'UTILITY',
    components: [{ type: 'BODY', text: 'Hi {{1}}, it is ready.', example: { body_text: [['Ana']] } }],
    ...change,
  })
  const made = await graph('POST', `${wabaId}/message_templates`, input('fresh'))
  expect(made.body).toEqual({ id: expect.any(String), status: 'PENDING', category: 'UTILITY' })
  const message = {
    type: 'template',
    template: { name: 'fresh', language: { code: 'en' }, components: [body(...texts('Ana'))] },
  }
  expect((await send(message)).code).toBe(132001)
  await graph('POST', `${wabaId}/message_templates`, input('please_reject'))
  await control.clock.advance(2_000)
  expect(
    receiver.changes().map(({ field, value }) => [field, value.event, value.message_template_name, value.reason]),
  ).toEqual([
    ['message_template_status_update', 'APPROVED', 'fresh', 'NONE'],
    ['message_template_status_update', 'REJECTED', 'please_reject', 'INVALID_FORMAT'],
  ])
  expect(receiver.changes()[0]?.value.message_template_id).toBe(Number(made.body.id))
  expect(receiver.requests[0]?.body.entry[0]?.time).toBeTypeOf('number')
  expect((await send(message)).status).toBe(200)
  expect(await graph('POST', `${wabaId}/message_templates`, input('fresh'))).toMatchObject({
    status: 400,
    body: { error: { code: 100, error_subcode: 2388024 } },
  })
  for (const change of [
    { name: 'Bad Name' },
    { category: 'OTHER' },
    { language: 'x' },
    { components: [] },
    { components: [{ type: 'BODY', text: 'Hi {{1}} {{999999999}}', example: {} }] },
    { components: [{ type: 'BODY', text: '{{1}}' }] },
  ])
    expect((await graph('POST', `${wabaId}/message_templates`, input('other', change))).status).toBe(400)
  expect((await graph('DELETE', `${wabaId}/message_templates?name=fresh`)).body).toEqual({ success: true })
  expect((await send(message)).code).toBe(132001)
})

test('a one-time-code template is listed with WhatsApp’s text and a URL button', async () => {
  const { graph } = await newWorld()
  const { body: created } = await graph('POST', `${wabaId}/message_templates`, {
    name: 'login_code',
    language: 'en_US',
    category: 'AUTHENTICATION',
    components: [
      { type: 'BODY', add_security_recommendation: true },
      { type: 'FOOTER', code_expiration_minutes: 10 },
      { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy Code' }] },
    ],
  })
  const { body: template } = await graph('GET', String(created.id))
  expect(template.components).toMatchObject([
    { text: '*{{1}}* is your verification code. For your security, do not share this code.' },
    { text: 'This code expires in 10 minutes.' },
    { buttons: [{ type: 'URL', url: expect.stringContaining('{{1}}') }] },
  ])
})
