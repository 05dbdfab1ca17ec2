import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { newApp, newSender, type TestApp } from '../../../../testing/network-app.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'

const server = useTestServer()
const folder = join(import.meta.dirname, '..', '..', '..', 'whatsapp', 'fixtures')
const payloads = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.json') && entry.parentPath !== folder)
  .map((entry) => ({
    name: `${entry.parentPath.split('/').at(-1)}/${entry.name}`,
    text: readFileSync(join(entry.parentPath, entry.name), 'utf8'),
  }))
  .filter(({ text }) => text.includes('"whatsapp_business_account"'))

let app: TestApp

beforeAll(async () => {
  app = await newApp(server)
  const workspace = await newWorkspace(server)
  const numbers = new Set(
    payloads.flatMap(({ text }) => [...text.matchAll(/"phone_number_id": *"?(\w+)/g)].map((m) => m[1])),
  )
  for (const number of numbers) await newSender(server, workspace.id, app.id, String(number))
})

test('every payload of the public test suites is accepted', async () => {
  expect(payloads.length).toBeGreaterThan(100)
  for (const { name, text } of payloads) expect([name, await app.post(text)]).toEqual([name, 200])
})

test('a mutated payload gets 200, and the valid messages in it are stored', async () => {
  const valid = (id: string) => ({
    from: '16505550123',
    id,
    timestamp: '1786000000',
    type: 'text',
    text: { body: 'x' },
  })
  const workspace = await newWorkspace(server)
  const number = '880000000000001'
  await newSender(server, workspace.id, app.id, number)
  const junk = fc.oneof(
    fc.jsonValue({ maxDepth: 4 }),
    fc.constantFrom('\u0000', '\ud800', '__proto__', 'x'.repeat(70_000), -1, 1e308, null, true, [], {}),
  )
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...payloads), fc.nat(), junk, async ({ text }, at, value) => {
      const payload = JSON.parse(text) as { entry: unknown[] }
      mutate(payload, at, value)
      const id = `wamid.${++run}`
      const neighbour = {
        id: '1',
        changes: [{ field: 'messages', value: { metadata: { phone_number_id: number }, messages: [valid(id)] } }],
      }
      if (Array.isArray(payload.entry)) payload.entry.push(neighbour)
      const isForWhatsApp = (payload as { object?: unknown }).object === 'whatsapp_business_account'
      expect(await app.post(payload)).toBe(200)
      const stored = await server.db.rows('select 1 from inbound_messages where wa_message_id = $1', [id])
      if (isForWhatsApp && Array.isArray(payload.entry)) expect(stored.length).toBe(1)
    }),
    { numRuns: 150 },
  )
})

test('JSON of any shape and depth gets a response', async () => {
  const deep = 200_000
  const shapes = ['null', '1', '""', '[]', '{}', '[[[]]]', `${'['.repeat(deep)}${']'.repeat(deep)}`]
  shapes.push(
    `{"object":"whatsapp_business_account","entry":[{"changes":[{"field":"x","value":${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}}]}]}`,
  )
  for (const shape of shapes) expect([shape.slice(0, 80), await app.post(shape)]).toEqual([shape.slice(0, 80), 200])
  expect(await app.post('{"object":')).toBe(400)
  expect(await app.post('')).toBe(400)
})

/** Replaces the node with number `at` by a value. */
function mutate(payload: object, at: number, value: unknown): void {
  const places: [Record<string, unknown>, string][] = []
  const walk = (node: unknown) => {
    if (node === null || typeof node !== 'object') return
    for (const key of Object.keys(node)) {
      places.push([node as Record<string, unknown>, key])
      walk((node as Record<string, unknown>)[key])
    }
  }
  walk(payload)
  const place = places[at % places.length]
  if (place) place[0][place[1]] = value
}
