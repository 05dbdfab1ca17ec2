import { expect, test } from 'vitest'
import { whyNotOfKind } from '../media-kinds.ts'
import { mediaReferences, withNetworkIds } from './media-references.ts'

test('files are found in messages, headers, cards and variables of templates, and nowhere else', () => {
  const id = 'med_1'
  const found = (request: unknown) => mediaReferences(request).map(({ param, kind }) => [param, kind])
  expect(found({ type: 'image', image: { id } })).toEqual([['image.id', 'image']])
  expect(found({ type: 'image', image: { id: '900' }, video: { id } })).toEqual([])
  const cards = [{ header: { type: 'video', video: { id } } }, { header: { type: 'image', image: { id } } }]
  expect(found({ type: 'interactive', interactive: { action: { cards } } })).toEqual([
    ['interactive.action.cards.0.header.video.id', 'video'],
    ['interactive.action.cards.1.header.image.id', 'image'],
  ])
  const buttons = [{ reply: { id, title: 'image' } }]
  expect(found({ type: 'interactive', interactive: { action: { buttons } } })).toEqual([])
  const variables = { 'header.gif': { id }, 'cards.0.header.image': { id }, 'body.1': id }
  expect(found({ type: 'template', template: { variables } })).toEqual([
    ['template.variables.header.gif.id', 'video'],
    ['template.variables.cards.0.header.image.id', 'image'],
  ])
  expect(found({ type: 'text', text: { body: 'med_1' }, image: { id } })).toEqual([])
})

test('malformed and hostile requests name no files', () => {
  const nested = JSON.parse(`${'{"image":'.repeat(60)}{"id":"med_1"}${'}'.repeat(60)}`)
  const hostile = [
    null,
    1,
    [],
    {},
    { type: 'image' },
    { type: 'constructor' },
    { type: 'interactive', interactive: nested },
  ]
  for (const request of hostile) expect(mediaReferences(request)).toEqual([])
  const odd = { type: 'interactive', interactive: { constructor: { id: 'med_1' }, toString: { id: 'med_1' } } }
  expect(mediaReferences(odd)).toEqual([])
  const many = { type: 'interactive', interactive: Array.from({ length: 1000 }, () => ({ image: { id: 'med_1' } })) }
  expect(mediaReferences(many)).toHaveLength(20)
})

test('the network’s IDs replace ours in a copy of the message', () => {
  const message = { type: 'image', image: { id: 'med_1', caption: 'med_1' }, biz_opaque_callback_data: 'msg_1' }
  expect(withNetworkIds(message, new Map([['med_1', '900']]))).toEqual({
    ...message,
    image: { id: '900', caption: 'med_1' },
  })
  expect(message.image.id).toBe('med_1')
  expect(withNetworkIds(message, new Map())).toBe(message)
})

test.each([
  ['image', 'image/jpeg', 5 * 1024 * 1024, true],
  ['image', 'image/jpeg', 5 * 1024 * 1024 + 1, false],
  ['image', 'image/webp', 1, false],
  ['sticker', 'image/webp', 1, true],
  ['video', 'video/3gpp', 16 * 1024 * 1024, true],
  ['video', 'video/quicktime', 1, false],
  ['audio', 'audio/ogg', 1, true],
  ['document', 'application/zip', 100_000_000, true],
] as const)('as %s, %s with %i bytes: %s', (kind, mimeType, size, isAccepted) => {
  expect(whyNotOfKind(kind, { mimeType, size }) === null).toBe(isAccepted)
})
