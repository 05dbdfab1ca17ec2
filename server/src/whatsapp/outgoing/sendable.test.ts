import { expect, test } from 'vitest'
import { notSendableReason } from './sendable.ts'

const body = { type: 'BODY', text: 'Hello {{1}}' }
const buttons = (...types: unknown[]) => ({ type: 'BUTTONS', buttons: types.map((type) => ({ type, text: 'x' })) })

test.each<[string, unknown[], string | null, string | null]>([
  ['a body alone', [body], null, null],
  [
    'types in lower case',
    [{ type: 'body' }, { type: 'footer' }, { type: 'buttons', buttons: [{ type: 'url' }] }],
    null,
    null,
  ],
  ['a header without a format', [{ type: 'HEADER', text: 'Hi' }, body], null, null],
  [
    'every known button',
    [
      body,
      buttons('QUICK_REPLY', 'URL', 'PHONE_NUMBER', 'COPY_CODE', 'FLOW', 'CATALOG', 'MPM', 'SPM', 'OTP', 'VOICE_CALL'),
    ],
    null,
    null,
  ],
  ['a known sub-category', [body], 'CUSTOM', null],
  ['an order details button', [body, buttons('URL', 'ORDER_DETAILS')], null, 'button ORDER_DETAILS'],
  ['an order status', [body], 'ORDER_STATUS', 'ORDER_STATUS message'],
  ['a request for the permission to call', [body, { type: 'CALL_PERMISSION_REQUEST' }], null, null],
  ['an unknown component', [body, { type: 'ALBUM' }], null, 'component ALBUM'],
  ['an unknown header', [{ type: 'HEADER', format: 'HOLOGRAM' }, body], null, 'header HOLOGRAM'],
  ['a button without a type', [body, buttons(undefined)], null, 'button without a type'],
  ['a part that is no object', [body, 7], null, 'component without a type'],
  [
    'an unknown button on a card',
    [body, { type: 'CAROUSEL', cards: [{ components: [body] }, { components: [body, buttons('TELEPORT')] }] }],
    null,
    'button TELEPORT',
  ],
])('%s', (_, components, subCategory, part) => {
  const reason = notSendableReason({ components, subCategory })
  expect(reason).toBe(part && `Parley does not support these parts of the template: ${part}.`)
})
