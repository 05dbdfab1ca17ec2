import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fixtures } from './fixtures.ts'
import { readWebhook } from './incoming.ts'

const now = new Date('2026-09-01T00:00:00.000Z')
const webhooks = fixtures((value) => value.object === 'whatsapp_business_account').map(([, body]) => body)

type Step = string | number
type Parent = Record<Step, unknown>

test('any JSON value is read without a fault', () => {
  fc.assert(fc.property(fc.jsonValue(), (body) => Array.isArray(readWebhook(body, now))))
})

test('any value in any place of a real webhook is read without a fault, and what is read can be stored', () => {
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('\u0000', '\ud800', '__proto__', 1e308, -1, '9'.repeat(400)),
  )
  fc.assert(
    fc.property(fc.constantFrom(...webhooks), fc.nat(), anything, (body, pick, value) => {
      const copy = structuredClone(body)
      const places = placesIn(copy)
      const [parent, step] = places[pick % places.length] as [Parent, Step]
      parent[step] = value
      const text = JSON.stringify(readWebhook(copy, now))
      return !text.includes('\\u0000') && !/\\ud[89a-f]/i.test(text)
    }),
    { numRuns: 3000 },
  )
})

test('a broken piece never costs its neighbours', () => {
  const neighbour = (id: string) => ({ id, from: '16505550123', timestamp: '1', type: 'text', text: { body: id } })
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
          { id: 'W', changes: [broken, change([neighbour('first'), message, neighbour('second')])] },
          entry,
          { id: 'W', changes: [change([neighbour('third')]), broken] },
        ],
      }
      const texts = readWebhook(body, now).flatMap((item) => (item.kind === 'message' ? [item.text] : []))
      expect(texts.filter((text) => text !== null)).toEqual(expect.arrayContaining(['first', 'second', 'third']))
    }),
  )
})

test('joined webhooks are read as the sum of their parts', () => {
  const joined = webhooks.flatMap((body) => (body as { entry: unknown[] }).entry)
  const whole = readWebhook({ object: 'whatsapp_business_account', entry: joined }, now)
  expect(whole).toEqual(webhooks.flatMap((body) => readWebhook(body, now)))
  expect(whole.length).toBeGreaterThan(webhooks.length)
})

/** Every place of a value that could hold something else. */
function placesIn(value: unknown): [Parent, Step][] {
  if (typeof value !== 'object' || value === null) return []
  const parent = value as Parent
  return Object.keys(parent).flatMap((key): [Parent, Step][] => [[parent, key], ...placesIn(parent[key])])
}
