import { expect, test } from 'vitest'
import { requestBubble, templateBubble } from './bubble.ts'

const components = [
  { type: 'HEADER', format: 'IMAGE' },
  { type: 'BODY', text: '{{first_name}}, your order {{ 2 }} is {{2}}.' },
  { type: 'FOOTER', text: 'Shop' },
  {
    type: 'BUTTONS',
    buttons: [{ type: 'URL', text: 'Track' }, { type: 'OTP' }, { type: 'QUICK_REPLY', text: 'Stop' }],
  },
  { type: 'CAROUSEL', cards: [{ components: [{ type: 'BODY', text: 'Only {{1}}' }] }] },
]

test('templateBubble fills in the variables that have a value and leaves the others', () => {
  const values = {
    'body.first_name': 'Ana',
    'header.image': { link: 'https://x.example/a.png' },
    'cards.0.body.1': '$5',
  }
  expect(templateBubble(components, values)).toEqual({
    header: { kind: 'media', type: 'image', detail: 'https://x.example/a.png' },
    body: 'Ana, your order {{ 2 }} is {{2}}.',
    footer: 'Shop',
    buttons: [
      { icon: 'link', text: 'Track' },
      { icon: 'copy', text: 'Copy code' },
      { icon: 'reply', text: 'Stop' },
    ],
    cards: [{ body: 'Only $5' }],
  })
})

test('a value is inserted literally, even if it looks like a variable or a replacement pattern', () => {
  expect(templateBubble([{ type: 'BODY', text: '{{1}} {{2}}' }], { 'body.1': '{{2}} $&', 'body.2': 'b' }).body).toBe(
    '{{2}} $& b',
  )
})

test('unknown components are ignored', () => {
  expect(templateBubble([null, 7, 'x', {}, { type: 'BODY' }, { type: 'BUTTONS', buttons: 'no' }], {})).toEqual({
    body: '',
    buttons: [],
  })
})

test.each([
  [{ type: 'text', text: { body: 'hi' } }, { body: 'hi' }],
  [
    {
      type: 'contacts',
      contacts: [{ name: { formatted_name: 'Ana' }, phones: [{ phone: '+16505550123' }, { phone: '(650) 555-0123' }] }],
    },
    { body: 'Ana · +1 650-555-0123 · (650) 555-0123' },
  ],
  [{ type: 'reaction', reaction: { emoji: '' } }, { body: 'Reaction removed' }],
  [
    { type: 'image', image: { link: 'https://x.example/a.png', caption: 'Look' } },
    { header: { kind: 'media', type: 'image', detail: 'https://x.example/a.png' }, body: 'Look' },
  ],
  [{ type: 'template', template: { name: 'gone' } }, { body: 'gone' }],
  [
    {
      type: 'interactive',
      interactive: {
        type: 'list',
        header: { type: 'text', text: 'Menu' },
        body: { text: 'Choose' },
        action: { button: 'Open', sections: [{ rows: [] }] },
      },
    },
    {
      header: { kind: 'text', text: 'Menu' },
      body: 'Choose',
      footer: null,
      buttons: [{ icon: 'list', text: 'Open' }],
    },
  ],
  [
    {
      type: 'interactive',
      interactive: {
        type: 'carousel',
        body: { text: 'New' },
        action: {
          cards: [
            {
              type: 'cta_url',
              header: { type: 'image', image: { link: 'https://x.example/a.png' } },
              action: { buttons: [{ type: 'quick_reply', quick_reply: { id: 'a', title: 'More' } }] },
            },
            { type: 'product', action: { catalog_id: '1', product_retailer_id: 'SKU-1' } },
          ],
        },
      },
    },
    {
      body: 'New',
      footer: null,
      buttons: [],
      cards: [
        {
          header: { kind: 'media', type: 'image', detail: 'https://x.example/a.png' },
          body: null,
          footer: null,
          buttons: [{ icon: 'reply', text: 'More' }],
        },
        { body: null, footer: null, buttons: [{ icon: 'product', text: 'View item' }] },
      ],
    },
  ],
  [
    {
      type: 'interactive',
      interactive: { type: 'voice_call', body: { text: 'Questions?' }, action: { name: 'voice_call' } },
    },
    { body: 'Questions?', footer: null, buttons: [{ icon: 'phone', text: 'Call now' }] },
  ],
  [
    {
      type: 'interactive',
      interactive: { type: 'order_details', action: { name: 'review_and_pay', parameters: { reference_id: 'a' } } },
    },
    { body: null, footer: null, buttons: [{ icon: 'product', text: 'Review and pay' }] },
  ],
])('requestBubble(%j)', (request, bubble) => {
  expect(requestBubble(request, null)).toEqual(bubble)
})
