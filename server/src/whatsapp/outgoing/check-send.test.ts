import { sendExamples } from '@parley/contract/send-examples'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkSend } from './check-send.ts'

const errors = (body: unknown) => checkSend(body).map(({ param, code }) => `${param} ${code}`)
const send = (type: string, content: unknown, more = {}) =>
  errors({ to: '491701234567', type, [type]: content, ...more })
const interactive = (content: object) => send('interactive', { body: { text: 'b' }, ...content })
const buttons = (...pairs: [string, string][]) => ({
  type: 'button',
  action: { buttons: pairs.map(([id, title]) => ({ type: 'reply', reply: { id, title } })) },
})
const rows = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => ({ id: `r${from + at}`, title: 'row' }))
const list = (...sections: object[]) => ({ type: 'list', action: { button: 'See', sections } })
const flow = (parameters: object) => ({
  type: 'flow',
  action: { name: 'flow', parameters: { flow_cta: 'Open', ...parameters } },
})

const image = { type: 'image', image: { link: 'https://cdn.example/a.png' } }
const linkAction = { name: 'cta_url', parameters: { display_text: 'Buy', url: 'https://x.example/1' } }
const replies = (...titles: string[]) => ({
  buttons: titles.map((title) => ({ type: 'quick_reply', quick_reply: { id: title, title } })),
})
const card = (card_index: number, change: object = {}) => ({
  card_index,
  type: 'cta_url',
  header: image,
  action: linkAction,
  ...change,
})
const product = { type: 'product', header: undefined, action: { catalog_id: '1', product_retailer_id: 'SKU-1' } }
const carousel = (...cards: object[]) =>
  interactive(JSON.parse(JSON.stringify({ type: 'carousel', action: { cards } })))
const address = (parameters: object) =>
  interactive({ type: 'address_message', action: { name: 'address_message', parameters } })

const parameters = 'interactive.action.parameters'
const amount = { value: 50_000, offset: 100 }
const order = (change: object) =>
  interactive({
    type: 'order_details',
    action: {
      name: 'review_and_pay',
      parameters: { reference_id: 'o-1', type: 'physical-goods', currency: 'BRL', total_amount: amount, ...change },
    },
  })
const orderStatus = (change: object) =>
  interactive({
    type: 'order_status',
    action: { name: 'review_order', parameters: { reference_id: 'o-1', ...change } },
  })
const askCall = { name: 'call_permission_request' }
const callButton = (parameters: object) =>
  interactive({ type: 'voice_call', action: { name: 'voice_call', parameters } })
const target = 'template.tap_target_configuration'
const shopPage = { url: 'https://shop.example', title: 'Offers' }
const tapTarget = (...pages: object[]) =>
  send('template', { name: 'a', language: 'en', tap_target_configuration: pages })

describe('a valid request has no errors', () => {
  test.each<[string, string[]]>([
    ['text', send('text', { body: 'x'.repeat(4096), preview_url: true })],
    ['text with emoji counts characters', send('text', { body: '😀'.repeat(4096) })],
    ['a plus before the number', errors({ to: '+491701234567', type: 'text', text: { body: 'x' } })],
    ['image', send('image', { link: 'https://cdn.example/a.png', caption: 'c' })],
    ['audio', send('audio', { id: '1', voice: true })],
    ['document', send('document', { id: '1', filename: 'a.pdf' })],
    ['location', send('location', { latitude: 0, longitude: -180 })],
    ['location with coordinates as strings', send('location', { latitude: '-37.4421', longitude: '180' })],
    ['location with coordinates as Python writes them', send('location', { latitude: '1e-07', longitude: '+0.50' })],
    [
      'contacts',
      send('contacts', [{ name: { formatted_name: 'Bea Diaz', first_name: 'Bea' }, phones: [{ phone: '+1' }] }]),
    ],
    ['reaction', send('reaction', { message_id: 'msg_1', emoji: '' })],
    ['template by name', send('template', { name: 'a', language: 'en' })],
    ['buttons', interactive(buttons(['a', 'A'], ['b', 'B'], ['c', 'C']))],
    ['list', interactive(list({ title: 'One', rows: rows(5) }, { title: 'Two', rows: rows(5, 5) }))],
    ['flow', interactive(flow({ flow_id: '8', flow_action_payload: { screen: 'S', data: { a: 1 } } }))],
    ['header', interactive({ ...buttons(['a', 'A']), header: { type: 'image', image: { id: '1' } } })],
    ['a form with a label of 30 characters', interactive(flow({ flow_id: '8', flow_cta: 'x'.repeat(30) }))],
    ['a form without a screen', interactive(flow({ flow_id: '8', flow_action_payload: { data: { a: 1 } } }))],
    ['a carousel with links', carousel(card(0, { body: { text: 'a\nb\nc' } }), card(1))],
    [
      'a carousel with replies',
      carousel(card(0, { action: replies('A', 'B') }), card(1, { action: replies('C', 'D') })),
    ],
    ['a carousel of products', carousel(card(0, product), card(1, product))],
    [
      'an address',
      address({ country: 'IN', values: { name: 'Ana' }, saved_addresses: [{ id: 'a', value: { city: '' } }] }),
    ],
    ['a user ID', errors({ to_user_id: 'US.1349', type: 'text', text: { body: 'x' } })],
    ['a reply without a recipient', errors({ in_reply_to: 'wamid.A==', type: 'text', text: { body: 'x' } })],
    ['contact request', interactive({ type: 'contact_request', action: { name: 'request_contact_info' } })],
    [
      'contact request with the other name of its type',
      interactive({ type: 'request_contact_info', action: { name: 'request_contact_info' } }),
    ],
    ['a permission to call without a text', send('interactive', { type: 'call_permission_request', action: askCall })],
    ['a call button', interactive({ type: 'voice_call', action: { name: 'voice_call' } })],
    ['an order with fields of one country', order({ beneficiaries: [{ name: 'Ana' }] })],
    ['the status of a payment', orderStatus({ payment: { status: 'captured', timestamp: 1_790_000_000 } })],
    ['location request', interactive({ type: 'location_request_message', action: { name: 'send_location' } })],
  ])('%s', (_name, found) => {
    expect(found).toEqual([])
  })
})

describe('every error has its path', () => {
  test.each<[string, string[], string[]]>([
    ['not an object', errors([]), ['body wrong_type']],
    ['an empty object', errors({}), ['to missing', 'type missing']],
    ['an invalid number', errors({ to: '+49 170', type: 'text', text: { body: 'x' } }), ['to invalid']],
    ['an unknown type', errors({ to: '491701234567', type: 'poll' }), ['type invalid']],
    ['the member is missing', errors({ to: '491701234567', type: 'text' }), ['text missing']],
    ['a second member', send('text', { body: 'x' }, { image: { id: '1' } }), ['image unexpected']],
    ['unknown fields', send('text', { body: 'x', bold: true }, { cc: 'x' }), ['cc unknown', 'text.bold unknown']],
    ['too long', send('text', { body: 'x'.repeat(4097) }), ['text.body too_long']],
    ['empty', send('text', { body: '' }), ['text.body too_short']],
    ['the wrong type', send('text', { body: 5 }), ['text.body wrong_type']],
    ['neither id nor link', send('image', {}), ['image invalid']],
    ['both id and link', send('image', { id: '1', link: 'https://x.example/a' }), ['image invalid']],
    ['a caption on audio', send('audio', { id: '1', caption: 'x' }), ['audio.caption unknown']],
    ['a latitude of 91', send('location', { latitude: 91, longitude: 0 }), ['location.latitude out_of_range']],
    ['a longitude of "181"', send('location', { latitude: 0, longitude: '181' }), ['location.longitude out_of_range']],
    [
      'coordinates that are not numbers',
      send('location', { latitude: 'north', longitude: '' }),
      ['location.latitude invalid', 'location.longitude invalid'],
    ],
    [
      'coordinates of the wrong type',
      send('location', { latitude: true }),
      ['location.longitude missing', 'location.latitude wrong_type'],
    ],
    ['an incomplete name', send('contacts', [{ name: { formatted_name: 'B' } }]), ['contacts.0.name invalid']],
    ['a template by name alone', send('template', { name: 'a' }), ['template invalid']],
    [
      'a reaction as a reply',
      send('reaction', { message_id: 'm', emoji: 'x' }, { in_reply_to: `msg_${crypto.randomUUID()}` }),
      ['in_reply_to unexpected'],
    ],
    ['NUL', send('text', { body: 'a\u0000' }), ['text.body invalid_characters']],
    ['an unpaired surrogate', send('text', { body: 'a\ud800' }), ['text.body invalid_characters']],
    ['an unknown interactive', interactive({ type: 'poll' }), ['interactive.type invalid']],
    ['an order without a total', order({ total_amount: undefined }), [`${parameters}.total_amount missing`]],
    [
      'an order with a decimal total',
      order({ total_amount: { value: 1.5 } }),
      [`${parameters}.total_amount.offset missing`, `${parameters}.total_amount.value wrong_type`],
    ],
    ['a currency in words', order({ currency: 'reais' }), [`${parameters}.currency invalid`]],
    ['a reference with a space', order({ reference_id: 'order 1' }), [`${parameters}.reference_id invalid`]],
    [
      'an item without a name',
      order({ order: { status: 'pending', items: [{ amount, quantity: 1 }] } }),
      [`${parameters}.order.items.0.name missing`],
    ],
    [
      'a payment setting without a type',
      order({ payment_settings: [{}] }),
      [`${parameters}.payment_settings.0.type missing`],
    ],
    [
      'an order status without a reference',
      orderStatus({ reference_id: undefined }),
      [`${parameters}.reference_id missing`],
    ],
    ['an order status without a status', orderStatus({ order: {} }), [`${parameters}.order.status missing`]],
    [
      'the wrong action',
      interactive({ type: 'call_permission_request', action: { name: 'x' } }),
      ['interactive.action.name invalid'],
    ],
    ['a call button for too long', callButton({ ttl_minutes: 43_201 }), [`${parameters}.ttl_minutes out_of_range`]],
    ['a long payload of a call button', callButton({ payload: 'x'.repeat(513) }), [`${parameters}.payload too_long`]],
    [
      'an identity that is no string',
      send('text', { body: 'x' }, { recipient_identity_key_hash: 7 }),
      ['recipient_identity_key_hash wrong_type'],
    ],
    ['a page without a title', tapTarget({ url: 'https://shop.example' }), [`${target}.0.title missing`]],
    ['a page that is no link', tapTarget({ url: 'shop', title: 'Offers' }), [`${target}.0.url invalid`]],
    ['two pages', tapTarget(shopPage, shopPage), [`${target} too_many`]],
    [
      'a form with a label of 31 characters',
      interactive(flow({ flow_id: '8', flow_cta: 'x'.repeat(31) })),
      ['interactive.action.parameters.flow_cta too_long'],
    ],
    ['one card', carousel(card(0)), ['interactive.action.cards too_few']],
    [
      'cards without their parts',
      carousel(card(0, { header: undefined, action: {} }), card(1, { type: 'product', action: linkAction })),
      [
        'interactive.action.cards.0.header missing',
        'interactive.action.cards.0.action.name missing',
        'interactive.action.cards.0.action.parameters missing',
        'interactive.action.cards.1.header unexpected',
        'interactive.action.cards.1.action.name unexpected',
        'interactive.action.cards.1.action.parameters unexpected',
        'interactive.action.cards.1.action.catalog_id missing',
        'interactive.action.cards.1.action.product_retailer_id missing',
        'interactive.action.cards invalid',
      ],
    ],
    [
      'a card with a link and replies',
      carousel(card(0, { action: { ...linkAction, ...replies('A') } }), card(1, { action: replies('A') })),
      ['interactive.action.cards.0.action.name unexpected', 'interactive.action.cards.0.action.parameters unexpected'],
    ],
    [
      'different numbers of buttons',
      carousel(card(0, { action: replies('A') }), card(1, { action: replies('A', 'B') })),
      ['interactive.action.cards invalid'],
    ],
    ['the same index twice', carousel(card(0), card(0)), ['interactive.action.cards.1.card_index invalid']],
    ['a missing index', carousel(card(0), card(2)), ['interactive.action.cards.1.card_index invalid']],
    [
      'three line breaks',
      carousel(card(0, { body: { text: 'a\n\n\nb' } }), card(1)),
      ['interactive.action.cards.0.body.text invalid'],
    ],
    [
      'a header of a card with both id and link',
      carousel(card(0, { header: { type: 'image', image: { id: '1', link: 'https://x.example' } } }), card(1)),
      ['interactive.action.cards.0.header.image invalid'],
    ],
    ['an address without a country', address({}), ['interactive.action.parameters.country missing']],
    ['an address in lower case', address({ country: 'in' }), ['interactive.action.parameters.country invalid']],
    [
      'four buttons',
      interactive(buttons(['a', 'A'], ['b', 'B'], ['c', 'C'], ['d', 'D'])),
      ['interactive.action.buttons too_many'],
    ],
    [
      'a long title',
      interactive(buttons(['a', 'x'.repeat(21)])),
      ['interactive.action.buttons.0.reply.title too_long'],
    ],
    ['the same id twice', interactive(buttons(['a', 'A'], ['a', 'B'])), ['interactive.action.buttons invalid']],
    [
      'eleven rows',
      interactive(list({ title: 'a', rows: rows(6) }, { title: 'b', rows: rows(5, 6) })),
      ['interactive.action.sections too_many'],
    ],
    [
      'no title',
      interactive(list({ title: 'a', rows: rows(1) }, { rows: rows(1, 1) })),
      ['interactive.action.sections.1.title missing'],
    ],
    [
      'a form with two names',
      interactive(flow({ flow_id: '8', flow_name: 'x' })),
      ['interactive.action.parameters invalid'],
    ],
    [
      'a header without its content',
      interactive({ ...buttons(['a', 'A']), header: { type: 'image', text: 'x' } }),
      ['interactive.header invalid'],
    ],
  ])('%s', (_name, found, expected) => {
    expect(found).toEqual(expected)
  })
})

test('all errors are reported together', () => {
  const contacts = Array.from({ length: 15 }, () => ({ name: { formatted_name: 5, first_name: 'B' } }))
  expect(send('contacts', contacts)).toEqual(contacts.map((_, at) => `contacts.${at}.name.formatted_name wrong_type`))
})

test.each(Object.entries(sendExamples))('the example of a message of type %s is a valid request', (type, example) => {
  expect([example.type, example.interactive?.type]).toContain(type)
  expect(checkSend(example)).toEqual([])
})

test('checkSend accepts any JSON value without throwing', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (body, part) => {
      checkSend(body)
      checkSend({ to: '491701234567', type: 'interactive', interactive: part, template: part, contacts: part })
    }),
  )
})
