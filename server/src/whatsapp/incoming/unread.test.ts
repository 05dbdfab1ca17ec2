import { expect, test } from 'vitest'
import { fieldReaders, readWebhook } from './incoming.ts'
import { unreadIn } from './known.ts'
import * as known from './known-members.ts'

const now = new Date('2026-09-01T00:00:00.000Z')
const metadata = { display_phone_number: '15550780001', phone_number_id: '106540000000001' }
const text = { from: '16505550123', id: 'wamid.A', timestamp: '1786000000', type: 'text', text: { body: 'hi' } }
const status = { id: 'wamid.O', status: 'delivered', timestamp: '1786000000', recipient_id: '16505550123' }
const error = { code: 131000, title: 'Something went wrong' }
const webhook = (...changes: unknown[]) => ({ object: 'whatsapp_business_account', entry: [{ id: '1', changes }] })
const read = (field: string, value: unknown) => readWebhook(webhook({ field, value }), now)

test.each<[string, string, object, string[], string, string[]]>([
  ['an unknown field', 'calls', { metadata, calls: [{}] }, ['unread'], 'unknown_field', []],
  ['no number', 'messages', { messages: [text] }, ['unread'], 'not_understood', []],
  ['nothing in it', 'messages', { metadata }, ['unread'], 'not_understood', []],
  [
    'no message ID',
    'messages',
    { metadata, messages: [{ ...text, id: undefined }] },
    ['unread'],
    'not_understood',
    ['messages.0'],
  ],
  [
    'an unknown status',
    'messages',
    { metadata, statuses: [{ ...status, status: 'warning' }] },
    ['unread'],
    'not_understood',
    ['statuses.0'],
  ],
  [
    'an unknown member of the value',
    'messages',
    { metadata, messages: [text], new: 1 },
    ['message', 'unread'],
    'partly_understood',
    ['new'],
  ],
  [
    'an unknown member of a message',
    'messages',
    { metadata, messages: [text, { ...text, foo: { bar: 1 } }] },
    ['message', 'message', 'unread'],
    'partly_understood',
    ['messages.1.foo'],
  ],
  [
    'the content of another type',
    'messages',
    { metadata, messages: [{ ...text, image: { id: '9' } }] },
    ['message', 'unread'],
    'partly_understood',
    ['messages.0.image'],
  ],
  [
    'an unknown type',
    'messages',
    { metadata, messages: [{ ...text, type: 'hologram', text: undefined, hologram: {} }] },
    ['message', 'unread'],
    'partly_understood',
    ['messages.0.hologram'],
  ],
  [
    'content that cannot be read',
    'messages',
    { metadata, messages: [{ ...text, type: 'image', text: undefined, image: { caption: 'x' } }] },
    ['message', 'unread'],
    'partly_understood',
    ['messages.0.image'],
  ],
  [
    'a list in place of a text',
    'messages',
    { metadata, messages: [{ ...text, text: { body: ['hi'] } }] },
    ['message', 'unread'],
    'partly_understood',
    ['messages.0.text', 'messages.0.text.body'],
  ],
  [
    'a text that is cut',
    'messages',
    { metadata, messages: [{ ...text, text: { body: 'x'.repeat(65_537) } }] },
    ['message', 'unread'],
    'partly_understood',
    ['messages.0.text.body'],
  ],
  [
    'a second error',
    'messages',
    { metadata, statuses: [{ ...status, status: 'failed', errors: [error, error] }] },
    ['status', 'unread'],
    'partly_understood',
    ['statuses.0.errors.1'],
  ],
  [
    'an error without a message',
    'messages',
    { metadata, errors: [error] },
    ['problem', 'unread'],
    'notice',
    ['errors.0'],
  ],
  [
    'a system message',
    'messages',
    {
      metadata,
      messages: [
        { ...text, type: 'system', text: undefined, system: { type: 'user_changed_number', wa_id: '16505550999' } },
      ],
    },
    ['unread'],
    'not_understood',
    ['messages.0'],
  ],
  ['a notice that changes nothing', 'security', { event: 'PIN_CHANGED' }, ['notice', 'unread'], 'notice', ['event']],
  [
    'a notice that changes something',
    'account_update',
    { event: 'ACCOUNT_DELETED', more: {} },
    ['notice', 'unread'],
    'notice',
    ['more'],
  ],
  [
    'an unknown template event',
    'message_template_status_update',
    { event: 'LOCKED', message_template_id: 7 },
    ['template', 'unread'],
    'notice',
    ['event'],
  ],
])('%s: %s', (_name, field, value, kinds, outcome, paths) => {
  const items = read(field, JSON.parse(JSON.stringify(value)))
  expect(items.map(({ kind }) => kind)).toEqual(kinds)
  const wherePhone = 'metadata' in value ? metadata.phone_number_id : null
  expect(items.at(-1)).toEqual({
    kind: 'unread',
    outcome,
    field,
    wabaId: '1',
    phoneNumberId: wherePhone,
    entry: 0,
    change: 0,
    paths,
  })
})

test.each<[string, unknown]>([
  [
    'messages',
    {
      messaging_product: 'whatsapp',
      metadata,
      contacts: [{ wa_id: '16505550123', profile: { name: 'Ana' } }],
      messages: [text],
    },
  ],
  ['messages', { metadata, statuses: [{ ...status, conversation: { id: 'c', origin: { type: 'service' } } }] }],
  [
    'account_update',
    {
      event: 'ACCOUNT_RESTRICTION',
      restriction_info: [{ restriction_type: 'RESTRICTED_ADD_PHONE_NUMBER_ACTION', expiration: 1786600000 }],
    },
  ],
  ['phone_number_quality_update', { display_phone_number: '15550780001', event: 'FLAGGED' }],
  ['message_template_status_update', { event: 'APPROVED', message_template_id: 7, reason: 'NONE' }],
])('a change of %s that is read completely gives no unread item', (field, value) => {
  expect(read(field, value).filter(({ kind }) => kind === 'unread')).toEqual([])
})

test('changes that are not changes give one item each, with their position', () => {
  const at = (body: unknown) =>
    readWebhook(body, now).map((item) => item.kind === 'unread' && [item.field, item.entry, item.change])
  expect(at({ object: 'page', entry: [] })).toEqual([['unknown', null, null]])
  expect(at({ object: 'whatsapp_business_account', entry: {} })).toEqual([['unknown', null, null]])
  expect(at({ object: 'whatsapp_business_account', entry: [1, { id: '1', messaging: [] }] })).toEqual([
    ['unknown', 0, null],
    ['unknown', 1, null],
  ])
  expect(at(webhook('x', { field: 'calls', value: 'x' }, { value: {} }))).toEqual([
    ['unknown', 0, 0],
    ['calls', 0, 1],
    ['unknown', 0, 2],
  ])
})

test('a field without its reader is unknown', () => {
  const readers = new Map([...fieldReaders].filter(([field]) => field !== 'messages'))
  const body = webhook({ field: 'messages', value: { metadata, messages: [text] } })
  expect(readWebhook(body, now, readers)).toMatchObject([
    { kind: 'unread', outcome: 'unknown_field', field: 'messages' },
  ])
})

test('names of inherited members are not known, and the paths are bounded and can be stored', () => {
  const odd = JSON.parse('{"__proto__": 1, "constructor": 1, "a\\u0000b": 1}')
  expect(unreadIn(odd, known.messages)).toEqual(['__proto__', 'constructor', 'ab'])
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`${'x'.repeat(500)}${index}`, 1]))
  const paths = unreadIn(many, known.messages)
  expect([paths.length, Math.max(...paths.map(({ length }) => length))]).toEqual([20, 200])
})
