import type { ConversationMessage } from '@parley/contract/console/contacts'
import { expect, test } from 'vitest'
import { conversationScenario } from './scenario.ts'

const sender = 'snd_1'
const none = {
  ...{ text: null, reply: null, media: null, location: null, contacts: null, order: null, reaction: null },
  ...{ edit: null, deletion: null, unsupported: null },
}

/** A stored message with the fields that are read. Minutes are its ID. */
function message(id: number, fields: Record<string, unknown>): ConversationMessage {
  const at = new Date(Date.UTC(2026, 10, 18, 10, id)).toISOString()
  const rest = { sender_id: sender, group_id: null, source: null, removed: null, form: null, about: null }
  return { id: `msg_${id}`, at, type: 'text', request: null, components: null, ...rest, ...fields } as never
}
const wrote = (id: number, received: object, fields: Record<string, unknown> = {}) =>
  message(id, { direction: 'received', status: 'received', received: { ...none, ...received }, ...fields })
const sent = (id: number, request: Record<string, unknown>, fields: Record<string, unknown> = {}) =>
  message(id, { direction: 'sent', status: 'delivered', type: request['type'], request, ...fields })
const about = (id: number) => ({ about: { id: `msg_${id}` } })

const question = {
  type: 'interactive',
  interactive: {
    type: 'button',
    body: { text: 'Monday at ten?' },
    action: { buttons: [{ type: 'reply', reply: { id: 'yes', title: 'Confirm' } }] },
  },
}
const template = { type: 'template', template: { name: 'reminder', language: 'en', variables: { 'body.1': 'Ana' } } }

const stepsOf = (messages: ConversationMessage[], withContents = true) =>
  conversationScenario(messages, sender, withContents).steps

test('a conversation becomes a scenario whose steps refer to each other', () => {
  const chat = [
    wrote(1, { text: 'book' }),
    sent(2, question, { status: 'read' }),
    wrote(3, { text: 'Confirm', reply: { id: 'yes', title: 'Confirm' } }, { type: 'interactive', ...about(2) }),
    wrote(4, { edit: { text: 'book it' } }, { type: 'unsupported', ...about(1) }),
    sent(5, template, { components: [{ type: 'BODY', text: 'See you, {{1}}.' }] }),
    wrote(6, { text: 'Thanks' }, about(5)),
    wrote(7, { reaction: { emoji: '👍' } }, { type: 'unsupported', ...about(5) }),
    wrote(8, { reaction: { emoji: null } }, { type: 'unsupported', ...about(5) }),
    wrote(9, { deletion: {} }, { type: 'unsupported', ...about(1) }),
  ]
  expect(conversationScenario(chat, sender, true)).toEqual({
    version: 1,
    steps: [
      { id: 'm1', from: 'person', after_ms: 0, action: 'say', input: { text: 'book' } },
      { id: 'm2', from: 'business', after_ms: 60_000, expect: { type: 'interactive', text: 'Monday at ten?' } },
      { from: 'person', after_ms: 60_000, action: 'tap', input: { message: 'm2', button: 'yes' } },
      { from: 'person', after_ms: 60_000, action: 'edit', input: { message: 'm1', text: 'book it' } },
      { id: 'm3', from: 'business', after_ms: 60_000, expect: { type: 'template', text: 'See you, Ana.' } },
      { from: 'person', after_ms: 60_000, action: 'say', input: { replyTo: 'm3', text: 'Thanks' } },
      { from: 'person', after_ms: 60_000, action: 'react', input: { message: 'm3', emoji: '👍' } },
      { from: 'person', after_ms: 60_000, action: 'unreact', input: { message: 'm3' } },
      { from: 'person', after_ms: 60_000, action: 'delete', input: { message: 'm1' } },
    ],
  })
})

const media = { id: '1', mime_type: 'image/png', filename: null, caption: 'Passport', sha256: null, voice: false }
const location = { latitude: 52.5, longitude: 13.4, name: 'Grandmother', address: 'Allee 17', url: null }
const card = {
  ...{ name: 'Wilhelmina', phones: [{ phone: '+4917055512', wa_id: null, type: 'CELL' }], emails: [], org: null },
  ...{ addresses: [], urls: [], birthday: null, origin: 'other' },
}
const item = { product_retailer_id: 'SKU-1', quantity: 2, item_price: 9.99, currency: 'EUR' }
const form = {
  response: { full_name: 'Wilhelmina', age: 41, smokes: true, photos: [{ file_name: 'Insurance.png' }] },
  files: [{ field: 'photos', index: 0, file_name: 'Insurance.png', mime_type: 'image/png' }],
}

test.each<[string, ConversationMessage, string, object, object]>([
  [
    'an image',
    wrote(1, { media, text: 'Passport' }, { type: 'image' }),
    'image',
    { mimeType: 'image/png', caption: 'Passport' },
    { mimeType: 'image/png', caption: 'Xxxxxxxx' },
  ],
  [
    'a voice message',
    wrote(1, { media: { ...media, mime_type: 'audio/ogg', caption: null, voice: true } }, { type: 'audio' }),
    'voice',
    { mimeType: 'audio/ogg' },
    { mimeType: 'audio/ogg' },
  ],
  [
    'a document',
    wrote(1, { media: { ...media, filename: 'Diagnosis.pdf', caption: null } }, { type: 'document' }),
    'document',
    { mimeType: 'image/png', filename: 'Diagnosis.pdf' },
    { mimeType: 'image/png', filename: 'Xxxxxxxxx.pdf' },
  ],
  [
    'a location',
    wrote(1, { location }, { type: 'location' }),
    'location',
    { latitude: 52.5, longitude: 13.4, name: 'Grandmother', address: 'Allee 17' },
    { latitude: 0, longitude: 0, name: 'Xxxxxxxxxxx', address: 'Xxxxx 00' },
  ],
  [
    'a contact card',
    wrote(1, { contacts: [card] }, { type: 'contacts' }),
    'contacts',
    { contacts: [{ name: { formatted_name: 'Wilhelmina' }, phones: [{ phone: '+4917055512', type: 'CELL' }] }] },
    { contacts: [{ name: { formatted_name: 'Xxxxxxxxxx' }, phones: [{ phone: '+0000000000', type: 'XXXX' }] }] },
  ],
  [
    'an order',
    wrote(1, { order: { catalog_id: 'C1', text: 'Quickly', items: [item] } }, { type: 'order' }),
    'order',
    { catalogId: 'C1', items: [{ retailerId: 'SKU-1', quantity: 2, price: 9.99, currency: 'EUR' }], text: 'Quickly' },
    { catalogId: 'C1', items: [{ retailerId: 'SKU-1', quantity: 1, price: 0, currency: 'EUR' }], text: 'Xxxxxxx' },
  ],
  [
    'a form',
    wrote(1, {}, { type: 'interactive', form }),
    'fillForm',
    {
      values: { full_name: 'Wilhelmina', age: 41, smokes: true },
      files: { photos: [{ mimeType: 'image/png', filename: 'Insurance.png' }] },
    },
    {
      values: { full_name: 'Xxxxxxxxxx', age: 0, smokes: false },
      files: { photos: [{ mimeType: 'image/png', filename: 'Xxxxxxxxx.png' }] },
    },
  ],
  [
    'an opened chat',
    wrote(1, { unsupported: { type: 'request_welcome', content: null } }, { type: 'unsupported' }),
    'welcome',
    {},
    {},
  ],
  [
    'an unknown type',
    wrote(1, { unsupported: { type: 'poll_creation', content: null } }, { type: 'unsupported' }),
    'unsupported',
    { kind: 'poll_creation' },
    { kind: 'poll_creation' },
  ],
])('%s becomes an action, and has no word of the person by default', (_name, one, action, kept, redacted) => {
  expect(stepsOf([one])).toEqual([{ from: 'person', after_ms: 0, action, input: kept }])
  expect(stepsOf([one], false)).toEqual([{ from: 'person', after_ms: 0, action, input: redacted }])
})

test('by default, texts of the business are redacted too, and the file says so', () => {
  expect(conversationScenario([sent(1, question)], sender, false)).toEqual({
    version: 1,
    redacted: true,
    steps: [{ from: 'business', after_ms: 0, expect: { type: 'interactive', text: 'Xxxxxx xx xxx?' } }],
  })
})

test('what the phone does not show, removed contents, groups and other senders are left out', () => {
  const text = { type: 'text', text: { body: 'Hello' } }
  const removed = { at: '2026-11-18T10:00:00.000Z', why: 'retention' }
  expect(
    stepsOf([
      sent(1, text, { status: 'sent' }),
      sent(2, text, { status: 'failed' }),
      sent(3, text, { source: 'business_app' }),
      wrote(4, { text: 'hi' }, { sender_id: 'snd_2' }),
      wrote(5, { text: 'hi' }, { group_id: 'group' }),
      wrote(6, {}, { removed }),
      message(7, { direction: 'received', received: null, removed }),
    ]),
  ).toEqual([])
})
