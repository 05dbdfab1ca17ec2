import type { ContactSender, ConversationMessage } from '@parley/contract/console/contacts'
import { expect, test } from 'vitest'
import { controlLines, conversationBubble, earlierTexts, linesBetween, withReactions } from './bubbles.ts'

/** A received message with the fields that a bubble reads. */
function message(id: string, { received, ...more }: { received?: object } & Record<string, unknown>) {
  const content = { text: null, media: null, edit: null, deletion: null, unsupported: null, standby: false }
  const fields = { id, type: 'text', direction: 'received', source: null, at: `2026-11-18T10:0${id}:00.000Z` }
  const none = { removed: null, request: null, form: null, about: null, edit: null, deletion: null, status: 'received' }
  // The rest of a message is not read.
  return { ...fields, ...none, received: { ...content, ...received }, ...more } as unknown as ConversationMessage
}
const at = '2026-11-18T10:05:00.000Z'
const said = { received: { text: 'See you at 5' } }

test('an edited message has its new text, and the earlier one on request', () => {
  const edited = message('1', { ...said, edit: { text: 'See you at 6', at } })
  expect(conversationBubble(edited)).toEqual({ body: 'See you at 6' })
  expect(earlierTexts(edited)).toEqual(['See you at 5'])
  expect(earlierTexts(message('1', said))).toEqual([])
})

test('the caption of a file can be edited', () => {
  const media = { filename: 'menu.pdf', mime_type: 'application/pdf' }
  const file = message('1', { type: 'document', received: { media, text: 'Old menu' }, edit: { text: 'New menu', at } })
  expect(conversationBubble(file)).toEqual({
    header: { kind: 'media', type: 'document', detail: 'menu.pdf' },
    body: 'New menu',
  })
})

test('a deleted message has all of its earlier texts on request', () => {
  const deleted = message('1', { ...said, edit: { text: 'See you at 6', at }, deletion: { at } })
  expect(conversationBubble(deleted)).toEqual({ body: '_This message was deleted._' })
  expect(earlierTexts(deleted)).toEqual(['See you at 5', 'See you at 6'])
  expect(earlierTexts({ ...deleted, removed: { at, why: 'retention' } } as ConversationMessage)).toEqual([])
})

test('a message of the business that was deleted elsewhere is deleted too', () => {
  const request = { type: 'text', text: { body: 'Offer' } }
  const sent = message('1', { direction: 'sent', request, deletion: { at } })
  expect(conversationBubble(sent)).toEqual({ body: '_This message was deleted._' })
  expect(earlierTexts(sent)).toEqual(['Offer'])
})

test('edits and deletions are shown in their message, and alone only if that is not loaded', () => {
  const about = { id: '1' }
  const change = { wa_message_id: 'wamid.A', message_id: '1' }
  const edit = message('2', { type: 'unsupported', received: { edit: { ...change, text: 'new' } }, about })
  const deletion = message('3', { type: 'unsupported', received: { deletion: change }, about })
  const reply = message('4', { ...said, about })
  expect(withReactions([message('1', said), edit, deletion, reply]).shown.map(({ id }) => id)).toEqual(['1', '4'])
  expect(withReactions([edit, deletion]).shown).toHaveLength(2)
  expect(conversationBubble(edit)).toEqual({
    header: { kind: 'text', text: 'Edited an earlier message' },
    body: 'new',
  })
  expect(conversationBubble(deletion)).toEqual({ body: '_Deleted an earlier message._' })
})

test.each([
  ['request_welcome', null, 'Opened the chat'],
  ['call_permission_reply', { response: 'accept' }, 'Allowed you to call'],
  ['call_permission_reply', { response: 'reject' }, 'Did not allow you to call'],
  ['payment_method', {}, 'Chose how to pay'],
  ['poll', null, 'A message type that WhatsApp does not deliver'],
])('an unsupported %s says what the person did: %o', (type, content, text) => {
  const unsupported = { type, code: null, title: null, content }
  expect(conversationBubble(message('1', { type: 'unsupported', received: { unsupported } })).body).toContain(text)
})

test('a change of control is between the messages before and after it', () => {
  const control = {
    change: 'passed',
    previous_owner: '123',
    new_owner: 'BUSINESS_AGENT',
    at: '2026-11-18T10:02:30.000Z',
  }
  const lines = controlLines([{ control }, { control: null }] as ContactSender[])
  expect(lines).toEqual([{ at: control.at, text: 'Conversation passed from app 123 to Business agent' }])
  const [first, second, third] = [message('1', said), message('2', said), message('3', said)]
  expect(linesBetween(lines, null, first)).toEqual([])
  expect(linesBetween(lines, first, second)).toEqual([])
  expect(linesBetween(lines, second, third)).toEqual(lines)
  expect(linesBetween(lines, second, null)).toEqual(lines)
  expect(linesBetween(lines, third, null)).toEqual([])
})
