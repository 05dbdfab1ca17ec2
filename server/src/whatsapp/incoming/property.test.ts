import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fixtures } from '../../../testing/fixtures.ts'
import { type Incoming, readWebhook } from './incoming.ts'

const now = new Date('2026-09-01T00:00:00.000Z')
const webhooks = fixtures((value) => value.object === 'whatsapp_business_account').map(([, body]) => body)

type Step = string | number
type Parent = Record<Step, unknown>

test('readWebhook accepts any JSON value without throwing', () => {
  fc.assert(fc.property(fc.jsonValue(), (body) => Array.isArray(readWebhook(body, now))))
})

test('any value at any path of a real webhook is parsed without throwing, and the result can be stored', () => {
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('\u0000', '\ud800', '__proto__', 1e308, -1, '9'.repeat(400)),
  )
  fc.assert(
    fc.property(fc.constantFrom(...webhooks), fc.nat(), anything, (body, pick, value) => {
      const copy = structuredClone(body)
      const paths = pathsIn(copy)
      const [parent, step] = paths[pick % paths.length] as [Parent, Step]
      parent[step] = value
      const text = JSON.stringify(readWebhook(copy, now))
      return !text.includes('\\u0000') && !/\\ud[89a-f]/i.test(text)
    }),
    { numRuns: 3000 },
  )
})

test('an invalid part does not affect the others', () => {
  const valid = (id: string) => ({ id, from: '16505550123', timestamp: '1', type: 'text', text: { body: id } })
  const change = (messages: unknown[]) => ({
    field: 'messages',
    value: { metadata: { phone_number_id: 'P' }, messages },
  })
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (message, broken, entry) => {
      const body = {
        object: 'whatsapp_business_account',
        entry: [
          entry,
          { id: 'W', changes: [broken, change([valid('first'), message, valid('second')])] },
          entry,
          { id: 'W', changes: [change([valid('third')]), broken] },
        ],
      }
      const texts = readWebhook(body, now).flatMap((item) => (item.kind === 'message' ? [item.text] : []))
      expect(texts.filter((text) => text !== null)).toEqual(expect.arrayContaining(['first', 'second', 'third']))
    }),
  )
})

test('combined webhooks are parsed like the separate ones', () => {
  const joined = webhooks.flatMap((body) => (body as { entry: unknown[] }).entry)
  const combined = readWebhook({ object: 'whatsapp_business_account', entry: joined }, now)
  const withoutPosition = (items: Incoming[]) => items.map((item) => ({ ...item, entry: null }))
  expect(withoutPosition(combined)).toEqual(withoutPosition(webhooks.flatMap((body) => readWebhook(body, now))))
  expect(combined.length).toBeGreaterThan(webhooks.length)
})

/** Every path in a value that can be replaced. */
function pathsIn(value: unknown): [Parent, Step][] {
  if (typeof value !== 'object' || value === null) return []
  const parent = value as Parent
  return Object.keys(parent).flatMap((key): [Parent, Step][] => [[parent, key], ...pathsIn(parent[key])])
}
