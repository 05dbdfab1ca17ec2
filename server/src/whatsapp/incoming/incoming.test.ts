import { describe, expect, test } from 'vitest'
import { type Incoming, readWebhook } from './incoming.ts'
import type { InboundItem } from './message.ts'

const now = new Date('2026-09-01T00:00:00.000Z')
const metadata = { display_phone_number: '15550780001', phone_number_id: '106540000000001' }

function webhook(...values: Record<string, unknown>[]) {
  const changes = values.map((value) => ({ field: 'messages', value: { metadata, ...value } }))
  return { object: 'whatsapp_business_account', entry: [{ id: '102290000000001', changes }] }
}

function read(message: Record<string, unknown>, contacts: unknown = undefined): Incoming | undefined {
  const complete = { from: '16505550123', id: 'wamid.A1', timestamp: '1786000000', ...message }
  return readWebhook(webhook({ messages: [complete], contacts }), now)[0]
}

const contentOf = (item: Incoming | undefined) => {
  const { type, text, reply, media, location } = item as InboundItem
  return { type, text, reply, media, location }
}
const bare = { text: null, reply: null, media: null, location: null }
const file = (parts: object) => ({
  id: '9',
  mime_type: 'image/jpeg',
  filename: null,
  caption: null,
  sha256: null,
  voice: false,
  ...parts,
})

describe("WhatsApp's message types are converted to ours", () => {
  test.each<[string, Record<string, unknown>, object]>([
    ['text', { text: { body: 'hi' } }, { ...bare, type: 'text', text: 'hi' }],
    [
      'image',
      { image: { id: '9', mime_type: 'image/jpeg', caption: 'My receipt' } },
      { ...bare, type: 'image', text: 'My receipt', media: file({ caption: 'My receipt' }) },
    ],
    ['video', { video: { id: '9', mime_type: 'image/jpeg' } }, { ...bare, type: 'video', media: file({}) }],
    [
      'document',
      { document: { id: '9', mime_type: 'image/jpeg', filename: '../a.pdf' } },
      { ...bare, type: 'document', media: file({ filename: '../a.pdf' }) },
    ],
    ['audio', { audio: { id: '9', mime_type: 'image/jpeg' } }, { ...bare, type: 'audio', media: file({}) }],
    [
      'audio',
      { audio: { id: '9', mime_type: 'image/jpeg', voice: true, sha256: `${'A'.repeat(42)}E=` } },
      { ...bare, type: 'audio', media: file({ voice: true, sha256: `${'0'.repeat(62)}01` }) },
    ],
    [
      'voice',
      { voice: { id: '9', mime_type: 'image/jpeg' } },
      { ...bare, type: 'audio', media: file({ voice: true }) },
    ],
    ['sticker', { sticker: { id: '9', mime_type: 'image/jpeg' } }, { ...bare, type: 'sticker', media: file({}) }],
    [
      'location',
      { location: { latitude: '-12.046374', longitude: 0 } },
      {
        ...bare,
        type: 'location',
        location: { latitude: -12.046374, longitude: 0, name: null, address: null, url: null },
      },
    ],
    ['contacts', { contacts: [{ phones: [] }] }, { ...bare, type: 'contacts' }],
    [
      'button',
      { button: { payload: 'CONFIRM|apt_77', text: 'Confirm' } },
      {
        ...bare,
        type: 'button',
        text: 'Confirm',
        reply: { id: 'CONFIRM|apt_77', title: 'Confirm', description: null },
      },
    ],
    [
      'button',
      { button: { text: 'Confirm' } },
      { ...bare, type: 'button', text: 'Confirm', reply: { id: 'Confirm', title: 'Confirm', description: null } },
    ],
    [
      'interactive',
      { interactive: { type: 'button_reply', button_reply: { id: 'yes', title: 'Yes' } } },
      { ...bare, type: 'interactive', text: 'Yes', reply: { id: 'yes', title: 'Yes', description: null } },
    ],
    [
      'interactive',
      { interactive: { type: 'list_reply', list_reply: { id: 'm10', title: '10:00', description: 'Dr. Paz' } } },
      { ...bare, type: 'interactive', text: '10:00', reply: { id: 'm10', title: '10:00', description: 'Dr. Paz' } },
    ],
    [
      'interactive',
      { interactive: { type: 'nfm_reply', nfm_reply: { response_json: '{"a":1}' } } },
      { ...bare, type: 'interactive' },
    ],
    ['interactive', { interactive: { type: 'product' } }, { ...bare, type: 'unsupported' }],
    ['interactive', {}, { ...bare, type: 'unsupported' }],
    ['order', { order: { catalog_id: '1', product_items: [] } }, { ...bare, type: 'order' }],
    ['reaction', { reaction: { message_id: 'wamid.O', emoji: '👍' } }, { ...bare, type: 'unsupported' }],
    ['edit', { edit: { message: { type: 'text', text: { body: 'x' } } } }, { ...bare, type: 'unsupported' }],
    ['revoke', { revoke: {} }, { ...bare, type: 'unsupported' }],
    ['unsupported', { unsupported: { type: 'poll_creation' } }, { ...bare, type: 'unsupported' }],
    ['image', { errors: [{ code: 131052 }] }, { ...bare, type: 'unsupported' }],
    ['hologram', { hologram: {} }, { ...bare, type: 'unsupported' }],
    ['__proto__', {}, { ...bare, type: 'unsupported' }],
    ['constructor', {}, { ...bare, type: 'unsupported' }],
  ])('%s %j', (type, content, expected) => {
    expect(contentOf(read({ type, ...content }))).toEqual(expected)
  })

  test('a message without a type is read as its only content member', () => {
    expect(read({ text: { body: 'hi' } })).toMatchObject({ type: 'text', text: 'hi', unsupported: null })
    expect(read({ contacts: [{ name: { formatted_name: 'Bea' } }] })).toMatchObject({
      type: 'contacts',
      contacts: [{ name: 'Bea', phones: [], emails: [], origin: null }],
    })
    expect(read({ system: { type: 'user_changed_number' } })).toMatchObject({
      kind: 'unread',
      outcome: 'not_understood',
    })
    expect(read({ location: { latitude: 1, longitude: 1, live: true } })).toMatchObject({ kind: 'unread' })
  })

  test('a message without a type and without exactly one content member is unsupported', () => {
    const nothing = { type: null, code: null, title: null }
    expect(contentOf(read({}))).toEqual({ ...bare, type: 'unsupported' })
    expect(read({ text: { body: 'hi' }, image: { id: '9' } })).toMatchObject({
      type: 'unsupported',
      unsupported: nothing,
    })
  })

  test('a reaction has its emoji and its message; a removed one has no emoji', () => {
    const reaction = (value: object) => read({ type: 'reaction', reaction: value })
    expect(reaction({ message_id: 'wamid.O', emoji: '👍' })).toMatchObject({
      type: 'unsupported',
      reaction: { emoji: '👍', wa_message_id: 'wamid.O' },
      unsupported: null,
    })
    for (const removed of [{ message_id: 'wamid.O' }, { message_id: 'wamid.O', emoji: '' }]) {
      expect(reaction(removed)).toMatchObject({ reaction: { emoji: null, wa_message_id: 'wamid.O' } })
    }
  })

  test.each<[Record<string, unknown>, object]>([
    [
      {
        type: 'unsupported',
        unsupported: { type: 'poll_creation' },
        errors: [{ code: 131051, title: 'Unknown type' }],
      },
      { type: 'poll_creation', code: 131051, title: 'Unknown type' },
    ],
    [
      { type: 'unknown', errors: [{ code: 130501, title: 'Old' }] },
      { type: null, code: 130501, title: 'Old' },
    ],
    [
      { type: 'edit', edit: {} },
      { type: 'edit', code: null, title: null, content: {} },
    ],
    [
      {
        type: 'interactive',
        interactive: { type: 'call_permission_reply', call_permission_reply: { response: 'accept' } },
      },
      { type: 'call_permission_reply', code: null, title: null, content: { response: 'accept' } },
    ],
    [{ type: 'request_welcome' }, { type: 'request_welcome', code: null, title: null, content: null }],
    [
      { type: 'poll_2027', poll_2027: { question: 'Tea?', options: [1] } },
      { type: 'poll_2027', code: null, title: null, content: { question: 'Tea?', options: [1] } },
    ],
    [
      { type: 'image', errors: [{ code: 131052, title: 'Too large' }] },
      { type: 'image', code: 131052, title: 'Too large' },
    ],
  ])('what is unsupported is named: %j', (message, unsupported) => {
    expect(read(message)).toMatchObject({ type: 'unsupported', unsupported, reaction: null })
  })

  test.each([
    ['system', { type: 'system', system: { type: 'user_changed_number' } }],
    ['live_location', { type: 'live_location' }],
    ['live_location', { type: 'location', location: { latitude: 1, longitude: 1, live: true } }],
    ['live_location', { type: 'unsupported', unsupported: { type: 'location' } }],
  ])('%s is no message', (_name, message) => {
    expect(read(message)).toMatchObject({ kind: 'unread', outcome: 'not_understood' })
  })
})

describe('the sender is found', () => {
  const ana = { wa_id: '16505550123', user_id: 'US.1', profile: { name: 'Ana' } }
  const bea = { wa_id: '34600000001', user_id: 'ES.2', profile: { name: 'Bea' } }

  test.each<[string, Record<string, unknown>, unknown, [string | null, string | null, string | null]]>([
    ['by number among several', { from: '34600000001' }, [ana, bea], ['34600000001', 'ES.2', 'Bea']],
    ['by user id among several', { from: undefined, from_user_id: 'ES.2' }, [ana, bea], ['34600000001', 'ES.2', 'Bea']],
    ['no match: not by position', { from: '4915' }, [ana, bea], ['4915', null, null]],
    ['the only contact', { from: '5511987654321' }, [ana], ['5511987654321', 'US.1', 'Ana']],
    ['number missing', { from: undefined, from_user_id: 'US.1' }, [{ user_id: 'US.1' }], [null, 'US.1', null]],
    ['number empty', { from: '' }, [{ ...ana, wa_id: '' }], [null, 'US.1', 'Ana']],
    [
      'user ID instead of the number',
      { from: 'US.13491200000000000001' },
      undefined,
      [null, 'US.13491200000000000001', null],
    ],
    ['a plus before the number', { from: '+16505550123' }, undefined, ['16505550123', null, null]],
    ['no contacts at all', {}, undefined, ['16505550123', null, null]],
    ['contacts of the wrong type', {}, 'nonsense', ['16505550123', null, null]],
  ])('%s', (_name, message, contacts, [from, fromUserId, profileName]) => {
    expect(read({ type: 'text', text: { body: '' }, ...message }, contacts)).toMatchObject({
      from,
      fromUserId,
      profileName,
    })
  })
})

describe('the only contact is used for the messages of one person, and of several for those it matches', () => {
  const text = { type: 'text', text: { body: 'x' } }
  const ana = { wa_id: '16505550123', user_id: 'US.1', profile: { name: 'Ana', username: '@ana' } }
  // Brazil and Argentina: WhatsApp has the number with or without a digit.
  const rewritten = { wa_id: '551187654321', profile: { name: 'Caio' } }

  test.each<[string, object[], object, (string | null)[][]]>([
    [
      'of two people, by number',
      [{ from: '16505550123' }, { from: '34600000001' }],
      ana,
      [
        ['16505550123', 'US.1', 'Ana', 'ana'],
        ['34600000001', null, null, null],
      ],
    ],
    [
      'of two people, by user ID',
      [{ from: '16505550199', from_user_id: 'US.1' }, { from_user_id: 'ES.2' }, {}],
      ana,
      [
        ['16505550199', 'US.1', 'Ana', 'ana'],
        [null, 'ES.2', null, null],
        [null, null, null, null],
      ],
    ],
    [
      'of one person, with a number that is written differently',
      [{ from: '5511987654321' }, { from: '5511987654321' }],
      rewritten,
      [
        ['5511987654321', null, 'Caio', null],
        ['5511987654321', null, 'Caio', null],
      ],
    ],
    [
      'of one person, without a number',
      [{ from_user_id: 'US.1' }, { from_user_id: 'US.1' }],
      { profile: { name: 'Ana' } },
      [
        [null, 'US.1', 'Ana', null],
        [null, 'US.1', 'Ana', null],
      ],
    ],
  ])('%s', (_name, people, contact, expected) => {
    const namesOf = (items: (Incoming | undefined)[]) =>
      items.map((item) => {
        const { from, fromUserId, profileName, username } = item as InboundItem
        return [from, fromUserId, profileName, username]
      })
    const messages = people.map((person, n) => ({ id: `wamid.${n}`, timestamp: '1786000000', ...text, ...person }))
    expect(namesOf(readWebhook(webhook({ messages, contacts: [contact] }), now))).toEqual(expected)
    // The recipients of echoes are found in the same way.
    const echoes = messages.map(({ from, from_user_id, ...message }: Record<string, unknown>, n) => {
      const recipient = { to: from, to_user_id: from_user_id }
      return n === 0 ? { id: 'wamid.0', message: { ...text, ...recipient } } : { ...message, ...recipient }
    })
    const value = { metadata, contacts: [contact], message_echoes: echoes }
    const changes = [{ field: 'message_echoes', value }]
    const webhookOfEchoes = { object: 'whatsapp_business_account', entry: [{ id: '1', changes }] }
    // One is nested, as in `standby`, which is reported as unread in this field.
    expect(namesOf(readWebhook(webhookOfEchoes, now).slice(0, people.length))).toEqual(expected)
  })

  test('in history', () => {
    const past = (from: string) => ({ from, id: `wamid.${from}`, timestamp: '1786000000', ...text })
    const nameIn = (...people: string[]) => {
      const threads = people.map((id) => ({
        id,
        messages: [past(id), { ...past('15550780001'), id: `wamid.to.${id}` }],
      }))
      const value = { metadata, contacts: [rewritten], history: [{ threads }] }
      const changes = [{ field: 'history', value }]
      const [chunk] = readWebhook({ object: 'whatsapp_business_account', entry: [{ id: '1', changes }] }, now)
      return chunk?.kind === 'history' ? chunk.messages.map(({ item }) => item.profileName) : []
    }
    expect(nameIn('5511987654321')).toEqual(['Caio', 'Caio'])
    expect(nameIn('551187654321', '16505550123')).toEqual(['Caio', 'Caio', null, null])
  })
})

test.each([
  ['@ana.prueba', 'ana.prueba'],
  ['ana.prueba', 'ana.prueba'],
  ['@', null],
  [undefined, null],
])('the username %s becomes %s', (username, expected) => {
  const item = read({ type: 'text', text: { body: '' } }, [{ wa_id: '16505550123', profile: { username } }])
  expect(item).toMatchObject({ username: expected })
})

describe('times, quotes and text', () => {
  test.each([
    ['1786000000', '2026-08-06T07:06:40.000Z'],
    [1786000000, '2026-08-06T07:06:40.000Z'],
    ['soon', now.toISOString()],
    [-1, now.toISOString()],
    [1e300, now.toISOString()],
    [null, now.toISOString()],
  ])('the timestamp %s is %s', (timestamp, expected) => {
    expect((read({ type: 'text', text: { body: '' }, timestamp }) as InboundItem).receivedAt.toISOString()).toBe(
      expected,
    )
  })

  test('a forwarded message is not a reply', () => {
    for (const context of [{ forwarded: true }, { frequently_forwarded: true }]) {
      expect(read({ type: 'text', text: { body: '' }, context })).toMatchObject({
        quotedWaMessageId: null,
        forwarded: true,
      })
    }
    expect(read({ type: 'text', text: { body: '' }, context: { id: 'wamid.O' } })).toMatchObject({
      quotedWaMessageId: 'wamid.O',
      forwarded: false,
    })
  })

  test('text is cleaned so that it can be stored', () => {
    expect(read({ type: 'text', text: { body: 'a\u0000b\ud800c' } })).toMatchObject({ text: 'ab\ufffdc' })
    const long = read({ type: 'text', text: { body: `${'x'.repeat(65_535)}😀` } }) as InboundItem
    expect(long.text).toBe('x'.repeat(65_535))
  })

  test('a message with an ID that is too long is not read, because a truncated ID could collide', () => {
    expect(read({ type: 'text', id: 'w'.repeat(257) })).toMatchObject({
      kind: 'unread',
      paths: ['messages.0', 'messages.0.id'],
    })
  })
})

describe('a submitted form', () => {
  const form = (nfm: unknown) =>
    (read({ type: 'interactive', interactive: { type: 'nfm_reply', nfm_reply: nfm } }) as InboundItem).form

  test.each([
    ['{not json'],
    ['[1]'],
    ['"text"'],
    ['null'],
    ['['.repeat(100_000)],
    [`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`],
  ])('a submission that is not a JSON object is kept as raw text: %.20s', (raw) => {
    expect(form({ response_json: raw })).toMatchObject({ response: {}, flowToken: null, raw, files: [] })
  })

  test('the token is separate from the values, and a key named __proto__ stays a key', () => {
    const read = form({ response_json: '{"flow_token":"t","__proto__":{"x":1},"a\\u0000":"b\\u0000"}' })
    expect(read?.flowToken).toBe('t')
    expect(JSON.stringify(read?.response)).toBe('{"__proto__":{"x":1},"a":"b"}')
  })

  test('files are recognized by their fields and numbered over all fields', () => {
    const photo = { id: 'm1', mime_type: 'image/jpeg', file_name: 'a.jpg', sha256: 'x' }
    const values = {
      note: 'n',
      list: [1, { id: 'no type' }],
      photos: [photo, { ...photo, id: 2 }],
      more: { docs: [photo] },
    }
    expect(form({ response_json: JSON.stringify(values) })?.files.map((f) => [f.field, f.index, f.media_id])).toEqual([
      ['photos', 0, 'm1'],
      ['photos', 1, '2'],
      ['more.docs', 2, 'm1'],
    ])
  })

  test('an encrypted file needs its keys and a URL of at most 4,096 characters', () => {
    const key = (bytes: number) => Buffer.alloc(bytes, 1).toString('base64')
    const keys = { iv: key(16), encryption_key: key(32), hmac_key: key(32) }
    const sealed = (cdn_url: string, encryption_metadata: object = keys) =>
      form({ response_json: JSON.stringify({ photo: [{ cdn_url, file_name: 'a.jpg', encryption_metadata }] }) })?.files
        .length
    const url = `https://example.com/${'x'.repeat(4_096 - 20)}`
    expect(sealed(url)).toBe(1)
    expect(sealed(`${url}x`)).toBe(0)
    expect(sealed(url, { ...keys, hmac_key: key(31) })).toBe(0)
  })
})

test('the failed status of a payment is no status of a message', () => {
  const status = { id: 'wamid.O', type: 'payment', status: 'failed', timestamp: '1786000000' }
  expect(readWebhook(webhook({ statuses: [status] }), now)).toMatchObject([
    { kind: 'unread', outcome: 'not_understood', paths: ['statuses.0'] },
  ])
})

test.each([
  [{ category: 'marketing', type: 'regular', pricing_model: 'PMP' }, ['marketing', 'regular', 'PMP']],
  [
    { category: 'service', pricing_type: 'free_entry_point', pricing_model: 'PMP' },
    ['service', 'free_entry_point', 'PMP'],
  ],
  [{ billable: true, pricing_model: 'CBP' }, [null, null, 'CBP', true]],
  [{ cost: { amount: '0.0123', currency: 'USD' } }, [null, null, null, null, { amount: '0.0123', currency: 'USD' }]],
  [{ cost: { amount: 2.5e-7, currency: 'USD' } }, [null, null, null, null, { amount: '0.00000025', currency: 'USD' }]],
])('the pricing %j is read', (pricing, [category, type, model, billable = null, cost = null]) => {
  const [item] = readWebhook(webhook({ statuses: [{ id: 'wamid.O', status: 'sent', pricing }] }), now)
  expect(item).toMatchObject({ kind: 'status', pricing: { category, type, model, billable, cost } })
})

test.each([undefined, null, {}, 'free', { cost: { amount: 'much' } }])('the pricing %j is null', (pricing) => {
  const [item] = readWebhook(webhook({ statuses: [{ id: 'wamid.O', status: 'sent', pricing }] }), now)
  expect(item).toMatchObject({ kind: 'status', pricing: null })
})

test('a failed status without a reason has an error', () => {
  const [item] = readWebhook(webhook({ statuses: [{ id: 'wamid.O', status: 'failed' }] }), now)
  expect(item).toMatchObject({ kind: 'status', status: 'failed', error: { code: 'unknown' } })
})

test('past messages of a person without a number are theirs, and one of neither is not read', () => {
  const past = (id: string, more: object) => ({
    id,
    timestamp: '1786000000',
    type: 'text',
    text: { body: 'x' },
    ...more,
  })
  const person = 'US.1234567890123456'
  const messages = [
    past('wamid.1', { from_user_id: person }),
    past('wamid.2', { from: '', from_user_id: person }),
    past('wamid.3', { from: '15550780001' }),
    past('wamid.4', {}),
    past('wamid.5', { from_user_id: 'US.6543210987654321' }),
  ]
  const value = { metadata, history: [{ threads: [{ id: person, messages }] }] }
  const [chunk, unread] = readWebhook(
    { object: 'whatsapp_business_account', entry: [{ id: '1', changes: [{ field: 'history', value }] }] },
    now,
  )
  if (chunk?.kind !== 'history') throw new Error('it is no history')
  expect(chunk.messages.map(({ item }) => [item.waMessageId, item.kind, item.fromUserId])).toEqual([
    ['wamid.1', 'message', person],
    ['wamid.2', 'message', person],
    ['wamid.3', 'echo', person],
  ])
  expect(unread).toMatchObject({
    outcome: 'partly_understood',
    paths: ['history.0.threads.0.messages.3', 'history.0.threads.0.messages.4'],
  })
})

test('an echo with the request that sent it has the recipient and the context that are next to the request', () => {
  const message = { type: 'text', text: { body: 'x' } }
  const outer = {
    id: 'wamid.1',
    timestamp: '1786000000',
    to: '16505550123',
    to_user_id: 'US.1',
    context: { id: 'wamid.0' },
  }
  const value = {
    metadata,
    message_echoes: [
      { ...outer, message },
      { ...outer, message: { ...message, to: '16505550199' } },
    ],
  }
  const items = readWebhook(
    { object: 'whatsapp_business_account', entry: [{ id: '1', changes: [{ field: 'message_echoes', value }] }] },
    now,
  )
  const read = { kind: 'echo', fromUserId: 'US.1', quotedWaMessageId: 'wamid.0', text: 'x' }
  expect(items).toMatchObject([
    { ...read, from: '16505550123' },
    { ...read, from: '16505550199' },
  ])
})

test('reading history takes as long as it has contacts and messages, and not their product', () => {
  let looks = 0
  const people = Array.from({ length: 400 }, (_, n) => String(16_505_000_000 + n))
  const contacts = people.map((wa_id) => ({
    profile: { name: wa_id },
    get wa_id() {
      looks++
      return wa_id
    },
  }))
  const threads = people.map((id) => ({
    id,
    messages: [{ from: id, id: `wamid.${id}`, type: 'text', text: { body: 'x' } }],
  }))
  const value = { metadata: { phone_number_id: '1' }, contacts, history: [{ threads }] }
  const [chunk] = readWebhook(
    { object: 'whatsapp_business_account', entry: [{ id: '1', changes: [{ field: 'history', value }] }] },
    new Date(),
  )
  if (chunk?.kind !== 'history') throw new Error('it is no history')
  expect(chunk.messages.map(({ item }) => item.profileName)).toEqual(people)
  expect(looks).toBeLessThan(10 * people.length)
})

test.each([
  ['messages', (messages: unknown[]) => ({ messages })],
  ['standby', (messages: unknown[]) => ({ standby: { messages } })],
  ['history', (messages: unknown[]) => ({ history: [{ threads: [{ id: '1', messages }] }] })],
] as const)('of 200,000 unreadable items in %s, the first are named', (field, toValue) => {
  const value = { metadata: { phone_number_id: '1' }, ...toValue(Array(200_000).fill(1)) }
  const items = readWebhook(
    { object: 'whatsapp_business_account', entry: [{ id: '1', changes: [{ field, value }] }] },
    new Date(),
  )
  const unread = items.find(({ kind }) => kind === 'unread')
  expect(unread?.kind === 'unread' && unread.paths.length).toBe(20)
})
