import { describe, expect, test } from 'vitest'
import { fixture, fixtures } from '../../../testing/fixtures.ts'
import { readObject } from '../read-json.ts'
import { type NetworkTemplate, templateFlow, templateVariables } from './variables.ts'

type Stored = NetworkTemplate & { data?: NetworkTemplate[] }

/** Every template in the fixtures: in a list, alone, or in the request that created it. */
const stored = fixtures((value) => Array.isArray(value.components) || isTemplateList(value)).flatMap(([path, value]) =>
  ((value as Stored).data ?? [value as Stored]).map((template): [string, NetworkTemplate] => [
    `${path.replace(/^.*\//, '').replace('.json', '')} ${template.name}`,
    template,
  ]),
)

function isTemplateList(value: Record<string, unknown>): boolean {
  return Array.isArray(value.data) && Array.isArray(readObject(value.data[0])?.components)
}

/** The required variables of each template: `key` and its example. */
const expectedVariables: Record<string, Record<string, string | null>> = {
  'api-message-templates-list appointment_reminder': {
    'header.1': 'Ana',
    'body.1': 'Mon 3',
    'body.2': '10:00',
    'buttons.2.url': 'abc',
  },
  'api-message-templates-list order_update': {
    'header.image': 'https://scontent.whatsapp.net/v/t61/x',
    'body.first_name': 'Ana',
    'body.order_id': 'A1',
  },
  'api-message-templates-list coupon': { 'buttons.0.code': '25OFF' },
  'api-message-templates-list intake_flow': {},
  'api-message-templates-list otp_login': { 'body.1': '123456' },
  'api-message-templates-list delivery_map': { 'header.location': null, 'body.1': 'Ana' },
  'template-authentication--authentication-code-autofill-button authentication_code_autofill_button': {
    'body.1': null,
  },
  'template-authentication--authentication-code-copy-code-button authentication_code_copy_code_button': {
    'body.1': null,
  },
  'template-authentication--zero-tap-auth-template zero_tap_auth_template': { 'body.1': null },
  'template-buttons--abandoned-cart-offer abandoned_cart_offer': {
    'header.product': null,
    'body.1': '25OFF',
    'body.2': '25%',
  },
  'template-buttons--abandoned-cart abandoned_cart': {
    'header.1': 'Pablo',
    'body.1': '10OFF',
    'buttons.0.products': null,
  },
  'template-buttons--coupon-code-fall2023-25off coupon_code_fall2023_25off': {
    'body.1': '25OFF',
    'body.2': '25%',
    'buttons.1.code': '250FF',
  },
  'template-buttons--intro-catalog-offer intro_catalog_offer': { 'body.1': '100', 'body.2': '400', 'body.3': '3' },
  'template-buttons--order-confirmation order_confirmation': {
    'header.document': '4::YX...',
    'body.1': 'Pablo',
    'body.2': '860198-230332',
  },
  'template-buttons--order-delivery-update order_delivery_update': {
    'header.location': null,
    'body.1': 'Mark',
    'body.2': '566701',
  },
  'template-buttons--seasonal-promotion seasonal_promotion': {
    'header.1': 'Summer Sale',
    'body.1': 'the end of August',
    'body.2': '25OFF',
    'body.3': '25%',
  },
  'template-carousel--carousel-template-media-cards-v1 carousel_template_media_cards_v1': {
    'body.1': 'Pablo',
    'body.2': '30%',
    'body.3': '30OFF',
    'cards.0.header.image': '4::an...',
    'cards.0.buttons.1.url': 'BLUE_ELF',
    'cards.1.header.image': '4::an...',
    'cards.1.buttons.1.url': 'BUDDHA',
    'cards.2.header.image': '4::an...',
    'cards.2.buttons.1.url': 'BLACK_PRINCE',
  },
  'template-carousel--carousel-template-product-cards-v1 carousel_template_product_cards_v1': {
    'body.1': 'Pablo',
    'cards.0.header.product': null,
    'cards.1.header.product': null,
  },
  'template-limited-time-offer--limited-time-offer-caribbean-pkg-2023 limited_time_offer_caribbean_pkg_2023': {
    'header.image': '4::aW...',
    'offer.expires_at': null,
    'body.1': 'Pablo',
    'body.2': 'CARIBE25',
    'buttons.0.code': 'CARIBE25',
    'buttons.1.url': 'https://awesomedestinations.com/offers?ref=n3mtql',
  },
  'request-create-authentication-template-w-otp-copy-code-button authentication_code_copy_code_button': {
    'body.1': null,
  },
  'request-create-authentication-template-w-otp-one-tap-autofill-button authentication_code_autofill_button': {
    'body.1': null,
  },
  'request-create-flow-template-message-by-flow-json <TEMPLATE_NAME>': {},
  'request-create-flow-template-message-by-id <TEMPLATE_NAME>': {},
  'request-create-flow-template-message-by-name <TEMPLATE_NAME>': {},
  'request-create-multi-product-message-template abandoned_cart': {
    'header.1': 'Pablo',
    'body.1': '10OFF',
    'buttons.0.products': null,
  },
  'request-create-template-w-document-header-text-body-a-phone-number-button-and-a-url-butt order_confirmation': {
    'header.document':
      '4::YXBwbGljYXRpb24vcGRm:ARZVv4zuogJMxmAdS3_6T4o_K4ll2806avA7rWpikisTzYPsXXUeKk0REjS-hIM1rYrizHD7rQXj951TKgUFblgd_BDWVROCwRkg9Vhjj-cHNQ:e:1681237341:634974688087057:100089620928913:ARa1ZDhwbLZM3EENeeg',
    'body.1': 'Mark',
    'body.2': '860198-230332',
  },
  'request-create-template-w-image-header-text-body-text-footer-and-2-call-to-action-button limited_time_offer_tuscan_getaway_2023':
    {
      'header.image': '4::aW...',
      'body.1': 'Mark',
      'body.2': 'Tuscan Getaway package',
      'body.3': '800',
      'buttons.1.url': 'summer2023',
    },
  'request-create-template-w-text-header-text-body-text-footer-and-2-quick-reply-buttons seasonal_promotion_text_only':
    {
      'header.1': 'Summer Sale',
      'body.1': 'the end of August',
      'body.2': '25OFF',
      'body.3': '25%',
    },
  'response-get-all-templates-default-fields hello_world': {},
  'response-get-all-templates-default-fields 2023_april_promo': { 'body.1': 'Mark', 'body.2': 'FALL25' },
  'response-get-template-by-id-default-fields 2023_april_promo': { 'body.1': 'Mark', 'body.2': 'FALL25' },
  'response-get-template-by-name-default-fields 2023_april_promo': { 'body.1': 'Mark', 'body.2': 'FALL25' },
}

describe('every template fixture has the variables of the table', () => {
  test('the table lists every template', () => {
    expect(stored.map(([name]) => name).sort()).toEqual(Object.keys(expectedVariables).sort())
  })

  test.each(stored)('%s', (name, template) => {
    const variables = templateVariables(template)
    const required = variables.filter((variable) => variable.required)
    expect(Object.fromEntries(required.map(({ key, example }) => [key, example]))).toEqual(expectedVariables[name])
    // The buttons with an optional variable.
    const buttons = JSON.stringify(template.components).match(/"type":"(QUICK_REPLY|CATALOG)"/gi) ?? []
    expect(variables.length - required.length).toBe(buttons.length)
  })
})

test('a variable has its part of the template and its type', () => {
  const carousel = fixture(
    'david-lev__pywa/template-carousel--carousel-template-media-cards-v1.json',
  ) as NetworkTemplate
  expect(templateVariables(carousel).slice(2, 6)).toEqual([
    { key: 'body.3', in: 'body', type: 'text', required: true, example: '30OFF' },
    { key: 'cards.0.header.image', in: 'card', type: 'image', required: true, example: '4::an...' },
    { key: 'cards.0.buttons.0.payload', in: 'card', type: 'text', required: false, example: null },
    { key: 'cards.0.buttons.1.url', in: 'card', type: 'text', required: true, example: 'BLUE_ELF' },
  ])
})

const body = (text: string) => ({ category: null, components: [{ type: 'body', text }] })
const keys = (text: string) => templateVariables(body(text)).map(({ key }) => key)

test('numbered placeholders count up to the highest, named ones once each', () => {
  expect(keys('{{1}} {{ 3 }} {{1}}')).toEqual(['body.1', 'body.2', 'body.3'])
  expect(keys('{{b}} {{a}} {{b}}')).toEqual(['body.b', 'body.a'])
  expect(keys('{{}} {1} {{a b}}')).toEqual([])
  expect(keys('{{999999999}}').length).toBeLessThan(200)
})

test('the form button is found by its index among all buttons', () => {
  const buttons = [
    { type: 'URL', url: 'https://x.example' },
    { type: 'flow', flow_id: 800000000000001 },
  ]
  expect(templateFlow({ components: [{ type: 'BUTTONS', buttons }] })).toEqual({
    flow_id: '800000000000001',
    button_index: 1,
  })
  expect(templateFlow({ components: [{ type: 'BODY', text: 'x' }] })).toBeNull()
})

test('in an authentication template the code is used for any link', () => {
  const components = [
    { type: 'BODY', text: '{{1}} is your code.' },
    { type: 'BUTTONS', buttons: [{ type: 'URL', url: 'https://x.example/{{1}}' }] },
  ]
  const keysOf = (category: string) => templateVariables({ category, components }).map(({ key }) => key)
  expect(keysOf('AUTHENTICATION')).toEqual(['body.1'])
  expect(keysOf('UTILITY')).toEqual(['body.1', 'buttons.0.url'])
})

test('invalid components are accepted without throwing', () => {
  const odd = [null, 1, 'x', [], {}, { type: 'BUTTONS', buttons: [null, 3] }, { type: 'CAROUSEL', cards: [null, {}] }]
  expect(templateVariables({ category: null, components: odd })).toEqual([])
})
