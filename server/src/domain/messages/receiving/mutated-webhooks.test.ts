/** Mutated webhooks of real traffic: none fails, and each change is stored as a message, a status, a notice or an update. */
import { expect, test } from 'vitest'
import { fixtures } from '../../../../testing/fixtures.ts'
import { newApp, newSender } from '../../../../testing/network-app.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'
import { readWebhook } from '../../../whatsapp/incoming/incoming.ts'
import { splitWebhook } from '../../../whatsapp/incoming/split-webhook.ts'

const server = useTestServer()
const payloads = fixtures((value) => value.object === 'whatsapp_business_account').map(([, body]) => body)
const junk = [null, true, -1, 0, 1e308, '', 'x', '\u0000', '\ud800', 'x'.repeat(70_000), [], {}, [[]], { x: 1 }, ['x']]
const names = ['__proto__', 'constructor', 'foo', 'type', 'id', 'messages', 'statuses', 'errors', 'metadata', 'value']
/** Enough for every kind of change in most places. More find what is rarer. */
const mutations = process.env.PARLEY_SCALE ? 10_000 : 1_000
const atOnce = 20

test(`${mutations} mutated webhooks get 200, and every change is counted`, async () => {
  const app = await newApp(server)
  const workspace = await newWorkspace(server)
  const random = seeded(38)
  const { wabaId } = await newSender(server, workspace.id, app.id, '0')
  const numbers = new Set<string>(JSON.stringify(payloads).match(/(?<="phone_number_id":")[^"]+/g))
  for (const number of numbers) await newSender(server, workspace.id, app.id, number)
  numbers.add('0')
  let changes = 0
  const expected = { messages: new Set<string>(), statuses: 0, notices: 0, updates: new Set<string>() }
  for (let sent = 0; sent < mutations; sent += atOnce) {
    const texts = Array.from({ length: atOnce }, (_, n) =>
      withIds(JSON.stringify(mutated(pick(payloads, random), random)), String(sent + n), wabaId),
    )
    const statuses = await Promise.all(texts.map((text) => app.post(text)))
    expect(new Set(statuses)).toEqual(new Set([200]))
    for (const { webhook, phoneNumberId } of texts.flatMap(splitWebhook)) {
      const items = readWebhook(JSON.parse(webhook), server.clock.now())
      changes++
      // Nothing at all would be a change that is lost.
      expect(items.length, webhook).toBeGreaterThan(0)
      if (phoneNumberId !== null && !numbers.has(phoneNumberId)) expected.updates.add(webhook)
      for (const item of items) {
        if (item.kind === 'message') expected.messages.add(`${item.phoneNumberId} ${item.waMessageId}`)
        else if (item.kind === 'unread') expected.updates.add(webhook)
        else if (item.kind === 'status') expected.statuses++
        else expected.notices++
      }
    }
  }
  expect(changes).toBeGreaterThan(mutations * 0.95)
  const webhooks = await server.db.rows<{ webhook: string; workspace_id: string | null }>(
    `select webhook, workspace_id from network_updates where app_id = $1
     union all select p.webhook, p.workspace_id from parked_updates p join connections c on c.id = p.connection_id
     where c.app_id = $1`,
    [app.id],
  )
  const stored = new Set(webhooks.map(({ webhook }) => webhook))
  // Each change with something unread, or for a number that is not known, is stored as it arrived.
  expect([...expected.updates].filter((webhook) => !stored.has(webhook))).toEqual([])
  const messages = await server.db.rows<{ key: string }>(
    `select s.phone_number_id || ' ' || m.wa_message_id as key from inbound_messages m join senders s on s.id = m.sender_id
     where s.app_id = $1`,
    [app.id],
  )
  const received = new Set(messages.map(({ key }) => key))
  const missing = [...expected.messages].filter((key) => numbers.has(key.split(' ')[0] ?? '') && !received.has(key))
  expect(missing).toEqual([])
  expect(Math.min(expected.messages.size, expected.statuses, expected.notices, expected.updates.size)).toBeGreaterThan(
    mutations / 20,
  )
}, 300_000)

/** The webhook of the connected account, with message IDs that no other one has. */
const withIds = (text: string, id: string, wabaId: string): string =>
  text
    .replaceAll(/"id":"(wamid|ABG|gBG)/g, (start) => `${start}${id}.`)
    .replaceAll(/("entry":\[{"id":)"[^"]*"/g, (_, start) => `${start}"${wabaId}"`)

/** A copy with one to three random changes: a value is replaced, removed, moved or added. */
function mutated(body: unknown, random: () => number): unknown {
  const copy = structuredClone(body)
  for (let left = 1 + Math.floor(random() * 3); left > 0; left--) {
    const [parent, name] = pick(placesIn(copy), random) ?? []
    if (!parent || name === undefined) return copy
    const kind = random()
    if (kind < 0.4) parent[name] = structuredClone(pick(junk, random))
    else if (kind < 0.55) delete parent[name]
    else if (kind < 0.75) {
      const [other, from] = pick(placesIn(copy), random) ?? []
      parent[name] = structuredClone(other?.[from ?? ''])
    } else parent[pick(names, random)] = structuredClone(pick(junk, random))
  }
  return copy
}

type Parent = Record<string, unknown>

function placesIn(value: unknown): [Parent, string][] {
  if (typeof value !== 'object' || value === null) return []
  const parent = value as Parent
  return Object.keys(parent).flatMap((name): [Parent, string][] => [[parent, name], ...placesIn(parent[name])])
}

const pick = <T>(items: readonly T[], random: () => number): T => items[Math.floor(random() * items.length)] as T

/** A generator of numbers below 1 that are the same in each run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
