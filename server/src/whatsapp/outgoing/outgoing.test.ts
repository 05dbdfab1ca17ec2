import type { SendRequest } from '@parley/contract/send'
import { describe, expect, test } from 'vitest'
import { fixture } from '../../../testing/fixtures.ts'
import { checkSend } from './check-send.ts'
import { checkVariables } from './check-variables.ts'
import { buildMessage, type Outgoing } from './outgoing.ts'
import type { NetworkTemplate } from './variables.ts'

type Body = Record<string, unknown>

/** A request fixture, with its placeholder number replaced. */
function stored(name: string): Body {
  const body = fixture(`WhatsApp__WhatsApp-Flows-Tools/request-send-${name}.json`) as Body
  return { recipient_type: 'individual', ...body, to: '+16505550123' }
}

const sameContent = [
  'audio-message-by-id',
  'catalog-message',
  'document-message-by-id',
  'draft-flow-by-name',
  'image-message-by-id',
  'list-message',
  'published-flow-by-name',
  'reply-button',
  'reply-to-audio-message-by-id',
  'reply-to-document-message-by-id',
  'reply-to-image-message-by-id',
  'reply-to-list-message',
  'reply-to-sticker-message-by-id',
  'reply-to-text-message',
  'reply-to-video-message-by-id',
  'reply-with-reaction-message',
  'single-product-message',
  'sticker-message-by-id',
  'text-message',
  'video-message-by-id',
]

describe("a send request is converted to WhatsApp's format", () => {
  test.each(sameContent)('%s', (name) => {
    const expected = stored(name)
    const context = expected.context as { message_id: string } | undefined
    const type = expected.type as SendRequest['type']
    const request = { to: '16505550123', type, [type]: expected[type] } as SendRequest
    const outgoing: Outgoing = { messageId: 'msg_1', request }
    if (context !== undefined) outgoing.quotedWaMessageId = context.message_id
    expect(buildMessage(outgoing)).toEqual({ ...expected, biz_opaque_callback_data: 'msg_1' })
  })

  test('coordinates are plain decimals', () => {
    const location = { latitude: 0.0000001, longitude: -122.1615, name: 'Cafe' }
    const built = buildMessage({ messageId: 'm', request: { to: '1650', type: 'location', location } })
    expect(built.location).toEqual({ latitude: '0.0000001', longitude: '-122.1615', name: 'Cafe' })
    const texts = { latitude: '1e-07', longitude: '-122.1615', name: 'Cafe' }
    const same = buildMessage({ messageId: 'm', request: { to: '1650', type: 'location', location: texts } })
    expect(same).toEqual(built)
  })

  test('the number always has exactly one plus', () => {
    const text = { body: 'x' }
    const to = (number: string) => buildMessage({ messageId: 'm', request: { to: number, type: 'text', text } }).to
    expect([to('16505550123'), to('+16505550123')]).toEqual(['+16505550123', '+16505550123'])
  })

  test('a person without a number is addressed by user ID', () => {
    const built = buildMessage({ messageId: 'm', request: { to_user_id: 'US.1', type: 'text', text: { body: 'x' } } })
    expect(built).toMatchObject({ recipient: 'US.1' })
    expect(built).not.toHaveProperty('to')
  })

  test('a reaction has WhatsApp’s message ID and is never a reply', () => {
    const request: SendRequest = { to: '1650', type: 'reaction', reaction: { message_id: 'msg_9', emoji: '' } }
    const built = buildMessage({ messageId: 'm', request, reactedWaMessageId: 'wamid.A', quotedWaMessageId: 'wamid.B' })
    expect(built).toMatchObject({ reaction: { message_id: 'wamid.A', emoji: '' } })
    expect(built).not.toHaveProperty('context')
  })

  test('a form without a screen and without data has no payload', () => {
    const parameters = { flow_id: '8', flow_cta: 'Open', flow_action_payload: { data: {} } }
    const interactive = { type: 'flow', body: { text: 'Fill in' }, action: { name: 'flow', parameters } } as const
    const built = buildMessage({ messageId: 'm', request: { to: '1650', type: 'interactive', interactive } })
    expect(built).not.toHaveProperty('interactive.action.parameters.flow_action_payload')
  })

  test('a form without a token gets the generated one, and empty data is removed', () => {
    const request = {
      to: '1650',
      type: 'interactive',
      interactive: {
        type: 'flow',
        body: { text: 'Fill in' },
        action: {
          name: 'flow',
          parameters: { flow_id: '8', flow_cta: 'Open', flow_action_payload: { screen: 'FIRST', data: {} } },
        },
      },
    } satisfies SendRequest
    expect(buildMessage({ messageId: 'm', request, flowToken: 'ft_1' })).toMatchObject({
      interactive: {
        action: {
          parameters: { flow_message_version: '3', flow_token: 'ft_1', flow_action_payload: { screen: 'FIRST' } },
        },
      },
    })
  })
})

const templates = (fixture('own/api-message-templates-list.json') as { data: NetworkTemplate[] }).data
const named = (name: string) => templates.find((template) => template.name === name) as NetworkTemplate
const pywa = (name: string) => fixture(`david-lev__pywa/template-${name}.json`) as NetworkTemplate

function components(template: NetworkTemplate, variables: Body, flow?: { token?: string; data?: Body }): unknown {
  const content = { name: template.name, language: template.language, variables, ...(flow && { flow }) }
  const request: SendRequest = { to: '16505550123', type: 'template', template: content }
  expect(checkSend(request)).toEqual([])
  expect(checkVariables(template, content)).toEqual([])
  const built = buildMessage({ messageId: 'm', request, template, flowToken: 'made' }).template as Body
  expect(built).toMatchObject({ name: template.name, language: { code: template.language } })
  return built.components
}

const text = (value: string) => ({ type: 'text', text: value })

describe('the variables of a template are converted to components', () => {
  test('numbered, with a link and a payload', () => {
    const values = {
      'header.1': 'Ana',
      'body.2': '10:00',
      'body.1': 'Mon 3',
      'buttons.2.url': 'apt_77',
      'buttons.0.payload': 'C',
    }
    expect(components(named('appointment_reminder'), values)).toEqual([
      { type: 'header', parameters: [text('Ana')] },
      { type: 'body', parameters: [text('Mon 3'), text('10:00')] },
      { type: 'button', sub_type: 'quick_reply', index: '0', parameters: [{ type: 'payload', payload: 'C' }] },
      { type: 'button', sub_type: 'url', index: '2', parameters: [text('apt_77')] },
    ])
  })

  test('amounts and dates', () => {
    const amount = { fallback_value: '€10.50', code: 'EUR', amount_1000: 10_500 }
    const date = { fallback_value: '3 May', day_of_week: 7, year: 2026, month: 5, calendar: 'GREGORIAN' }
    const values = { 'header.1': 'Ana', 'body.1': { currency: amount }, 'body.2': { date_time: date } }
    expect(components(named('appointment_reminder'), { ...values, 'buttons.2.url': 'x' })).toMatchObject([
      { type: 'header' },
      {
        type: 'body',
        parameters: [
          { type: 'currency', currency: amount },
          { type: 'date_time', date_time: date },
        ],
      },
      { type: 'button' },
    ])
    const byName = { 'header.image': { id: '1' }, 'body.first_name': 'Ana', 'body.order_id': { currency: amount } }
    expect(components(named('order_update'), byName)).toMatchObject([
      { type: 'header' },
      { parameters: [{ type: 'text' }, { type: 'currency', parameter_name: 'order_id', currency: amount }] },
    ])
  })

  test('named, with an image by link and by id', () => {
    const values = { 'header.image': 'https://cdn.example/a.png', 'body.first_name': 'Ana', 'body.order_id': 'A1' }
    const body = {
      type: 'body',
      parameters: [
        { type: 'text', parameter_name: 'first_name', text: 'Ana' },
        { type: 'text', parameter_name: 'order_id', text: 'A1' },
      ],
    }
    const header = (image: Body) => ({ type: 'header', parameters: [{ type: 'image', image }] })
    expect(components(named('order_update'), values)).toEqual([header({ link: 'https://cdn.example/a.png' }), body])
    expect(components(named('order_update'), { ...values, 'header.image': { id: '287' } })).toEqual([
      header({ id: '287' }),
      body,
    ])
  })

  test.each([named('otp_login'), pywa('authentication--authentication-code-copy-code-button')])(
    'the code is used in the body and the button of $name',
    (template) => {
      expect(components(template, { 'body.1': '483920' })).toEqual([
        { type: 'body', parameters: [text('483920')] },
        { type: 'button', sub_type: 'url', index: '0', parameters: [text('483920')] },
      ])
    },
  )

  test('a form button always has a token', () => {
    const button = (action: Body) => [
      { type: 'button', sub_type: 'flow', index: '0', parameters: [{ type: 'action', action }] },
    ]
    const form = named('intake_flow')
    expect(components(form, {})).toEqual(button({ flow_token: 'made' }))
    expect(components(form, {}, { token: 'mine', data: {} })).toEqual(button({ flow_token: 'mine' }))
    expect(components(form, {}, { data: { name: 'Ana' } })).toEqual(
      button({ flow_token: 'made', flow_action_data: { name: 'Ana' } }),
    )
  })

  test('a limited-time offer, with its coupon and its link', () => {
    const values = {
      'header.image': { id: '1' },
      'offer.expires_at': '2026-08-13T05:46:40.000Z',
      'body.1': 'Pablo',
      'body.2': 'CARIBE25',
      'buttons.0.code': 'CARIBE25',
      'buttons.1.url': 'n3mtql',
    }
    expect(components(pywa('limited-time-offer--limited-time-offer-caribbean-pkg-2023'), values)).toEqual([
      { type: 'header', parameters: [{ type: 'image', image: { id: '1' } }] },
      {
        type: 'limited_time_offer',
        parameters: [{ type: 'limited_time_offer', limited_time_offer: { expiration_time_ms: 1786600000000 } }],
      },
      { type: 'body', parameters: [text('Pablo'), text('CARIBE25')] },
      {
        type: 'button',
        sub_type: 'copy_code',
        index: '0',
        parameters: [{ type: 'coupon_code', coupon_code: 'CARIBE25' }],
      },
      { type: 'button', sub_type: 'url', index: '1', parameters: [text('n3mtql')] },
    ])
  })

  test('a call button has its minutes and a payload in one component', () => {
    const template: NetworkTemplate = {
      name: 'call_us',
      language: 'en',
      category: 'UTILITY',
      components: [{ type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY' }, { type: 'VOICE_CALL', text: 'Call' }] }],
    }
    const parameters = [
      { type: 'ttl_minutes', ttl_minutes: 100 },
      { type: 'payload', payload: 'order 1001' },
    ]
    const values = { 'buttons.1.payload': 'order 1001', 'buttons.1.ttl_minutes': 100 }
    expect(components(template, values)).toEqual([{ type: 'button', sub_type: 'voice_call', index: '1', parameters }])
    const wrong = { name: 'a', language: 'en', variables: { 'buttons.1.ttl_minutes': 0, 'buttons.1.payload': '' } }
    expect(checkVariables(template, wrong).map(({ param, code }) => `${param} ${code}`)).toEqual([
      'template.variables.buttons.1.ttl_minutes out_of_range',
      'template.variables.buttons.1.payload too_short',
    ])
  })

  test('a carousel has cards with their own components', () => {
    const cards = { ...card(0), ...card(1), ...card(2) }
    const values = { 'body.1': 'Pablo', 'body.2': '30%', 'body.3': '30OFF', ...cards }
    const built = components(pywa('carousel--carousel-template-media-cards-v1'), values) as Body[]
    expect(built[1]).toMatchObject({
      type: 'carousel',
      cards: [{ card_index: 0 }, { card_index: 1 }, { card_index: 2 }],
    })
    const [, carousel] = built as [Body, { cards: Body[] }]
    expect(carousel.cards[1]?.components).toEqual([
      { type: 'header', parameters: [{ type: 'image', image: { id: '1' } }] },
      { type: 'button', sub_type: 'url', index: '1', parameters: [text('u1')] },
    ])
  })

  test('a catalog template, as in the request fixture', () => {
    const offer = pywa('buttons--intro-catalog-offer')
    const values = { 'body.1': '100', 'body.2': '400', 'body.3': '3', 'buttons.0.thumbnail': '2lc20305pt' }
    const expected = stored('catalog-template-message').template as Body
    const lower = JSON.parse(
      JSON.stringify(expected.components).replace('CATALOG', 'catalog').replace('"index":0', '"index":"0"'),
    )
    expect(components(offer, values)).toEqual(lower)
  })

  test('a template without variables has no components', () => {
    const hello: NetworkTemplate = { name: 'hello_world', language: 'en_US', category: null, components: [] }
    expect(components(hello, {})).toBeUndefined()
  })
})

function card(index: number) {
  return { [`cards.${index}.header.image`]: { id: String(index) }, [`cards.${index}.buttons.1.url`]: `u${index}` }
}
