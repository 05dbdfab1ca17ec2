import { expect, onTestFinished, test } from 'vitest'
import { eventsOf, newApp, newSender } from '../../../../testing/network-app.ts'
import { rowsRead } from '../../../../testing/rows-read.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'
import { type Db, openDatabase } from '../../../db/db.ts'
import { newUuid } from '../../../lib/ids.ts'
import { newEarlyStatusSweep } from './early-statuses.ts'
import { saveStatuses } from './statuses.ts'

const server = useTestServer()
const dayMs = 86_400_000

/** A number with a message whose network ID is not known yet. */
async function newNumber() {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const phoneNumberId = String(Math.trunc(Math.random() * 1e15))
  const sender = await newSender(server, workspace.id, app.id, phoneNumberId)
  const messageId = newUuid()
  await server.db.change(
    `insert into messages (id, workspace_id, sender_id, recipient, created_at, key_id, type, credits, content)
     select $1, $2, $3, '16505550123', $4, id, 'text', 0, '{}' from api_keys where workspace_id = $2`,
    [messageId, workspace.id, sender.id, server.clock.now()],
  )
  return {
    /** The network posts a status without our message ID. */
    async report(status: string, waMessageId: string) {
      const change = { id: waMessageId, status, timestamp: '1786000001', recipient_id: '16505550123' }
      const value = { messaging_product: 'whatsapp', metadata: { phone_number_id: phoneNumberId }, statuses: [change] }
      const entry = [{ id: '1', changes: [{ field: 'messages', value }] }]
      expect(await app.post({ object: 'whatsapp_business_account', entry })).toBe(200)
    },
    /** Records the response to the send request, as the outbox does. */
    recordSent(db: Db, waMessageId: string) {
      const ids = { messageId, senderId: sender.id, workspaceId: workspace.id, waMessageId }
      const more = { error: null, recipientUserId: null, pricing: null }
      const now = server.clock.now()
      return saveStatuses(db, now, [{ ...ids, status: 'sent', occurredAt: now, ...more }])
    },
    events: async () => (await eventsOf(server, workspace.id)).map(({ type }) => type).sort(),
    look: async () => (await workspace.call(`/v1/messages/msg_${messageId}`)).body,
    /** Statuses of messages that another tool sent. */
    async addOthers(count: number, recordedAt: Date) {
      await server.db.change(
        `insert into early_statuses (sender_id, workspace_id, wa_message_id, status, occurred_at, recorded_at)
         select $1, $2, 'wamid.' || lpad(n::text, 8, '0'), 'delivered', $4, $4 from generate_series(1, $3::int) as n`,
        [sender.id, workspace.id, count, recordedAt],
      )
    },
    async countEarly() {
      const row = await server.db.first<{ count: number }>(
        'select count(*) as count from early_statuses where sender_id = $1',
        [sender.id],
      )
      return row?.count
    },
  }
}

test('a status that arrived before the response to its send request is applied with that response', async () => {
  const { report, recordSent, events, look, countEarly } = await newNumber()
  await report('delivered', 'wamid.A')
  await report('read', 'wamid.A')
  expect([await countEarly(), await events()]).toEqual([2, []])
  await server.db.transaction((tx) => recordSent(tx, 'wamid.A'))
  expect(await events()).toEqual(['message.delivered', 'message.read', 'message.sent'])
  expect(await look()).toMatchObject({ status: 'read' })
  expect(await countEarly()).toBe(0)
})

test('a status that arrives in the moment in which the response is recorded is applied by the next sweep, once', async () => {
  const { report, recordSent, events, look, countEarly } = await newNumber()
  await server.db.transaction(async (tx) => {
    await recordSent(tx, 'wamid.B')
    // This process, or another one, does not see the message yet, and the transaction does not see the status.
    await report('delivered', 'wamid.B')
  })
  expect([await countEarly(), await events()]).toEqual([1, ['message.sent']])
  const sweeps = [newEarlyStatusSweep(server.clock), newEarlyStatusSweep(server.clock)]
  await Promise.all(sweeps.map((sweep) => sweep(server.db)))
  expect(await events()).toEqual(['message.delivered', 'message.sent'])
  expect(await look()).toMatchObject({ status: 'delivered' })
  expect(await countEarly()).toBe(0)
})

test('a sweep reads at most two thousand early statuses, and a few sweeps look at all', async () => {
  const { report, recordSent, events, addOthers, countEarly } = await newNumber()
  const sweep = newEarlyStatusSweep(server.clock)
  await server.db.transaction(async (tx) => {
    await recordSent(tx, 'wamid.00002500x')
    await report('delivered', 'wamid.00002500x')
  })
  // Newer statuses of other tools, before and after it in the order of the keys.
  await addOthers(5_000, new Date(server.clock.now().getTime() + 1000))
  let runs = 0
  for (; (await events()).length < 2 && runs < 10; runs++) {
    expect(await rowsRead(server.db, 'early_statuses', sweep)).toBeLessThanOrEqual(2_010)
  }
  expect(runs).toBe(3)
  expect(await events()).toEqual(['message.delivered', 'message.sent'])
  expect(await countEarly()).toBe(5_000)
  await server.db.change('delete from early_statuses')
})

test('early statuses that never matched are deleted after seven days', async () => {
  const { report, addOthers, countEarly } = await newNumber()
  await addOthers(6_000, new Date(server.clock.now().getTime() - 7 * dayMs - 1))
  await report('delivered', 'wamid.C')
  await newEarlyStatusSweep(server.clock)(server.db)
  expect(await countEarly()).toBe(1)
})

test('recording the response reads only the early statuses of its message, even if there were few when it was planned', async () => {
  const [first, second] = [await newNumber(), await newNumber()]
  await server.db.script('truncate early_statuses')
  await first.addOthers(20, server.clock.now())
  await server.db.script('analyze early_statuses')
  const db = openDatabase(server.connection, () => {}, 1)
  onTestFinished(() => db.close())
  await db.transaction((tx) => first.recordSent(tx, 'wamid.first'))
  await second.addOthers(5_000, server.clock.now())
  await second.report('delivered', 'wamid.second')
  expect(await rowsRead(db, 'early_statuses', (tx) => second.recordSent(tx, 'wamid.second'))).toBeLessThan(10)
  expect(await second.events()).toEqual(['message.delivered', 'message.sent'])
})
