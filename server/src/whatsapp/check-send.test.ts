import { SendRequest } from '@parley/contract/send'
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

describe('a valid request has no errors', () => {
  test.each<[string, string[]]>([
    ['text', send('text', { body: 'x'.repeat(4096), preview_url: true })],
    ['text with emoji counts characters', send('text', { body: '😀'.repeat(4096) })],
    ['a plus before the number', errors({ to: '+491701234567', type: 'text', text: { body: 'x' } })],
    ['image', send('image', { link: 'https://cdn.example/a.png', caption: 'c' })],
    ['audio', send('audio', { id: '1', voice: true })],
    ['document', send('document', { id: '1', filename: 'a.pdf' })],
    ['location', send('location', { latitude: 0, longitude: -180 })],
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

test('the examples of the schema are valid requests', () => {
  for (const example of (SendRequest as { examples?: unknown[] }).examples ?? []) expect(checkSend(example)).toEqual([])
})

test('checkSend accepts any JSON value without throwing', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (body, part) => {
      checkSend(body)
      checkSend({ to: '491701234567', type: 'interactive', interactive: part, template: part, contacts: part })
    }),
  )
})
