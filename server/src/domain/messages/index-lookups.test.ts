/** A statement is planned once, often while its tables are almost empty; it must not read whole tables then, because it would do so for a long time. */
import { expect, onTestFinished, test } from 'vitest'
import { asSuperuser } from '../../../testing/filled-database.ts'
import { rowsRead } from '../../../testing/rows-read.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { inBriefTransaction } from '../../db/connect/brief-transaction.ts'
import { type Database, type Db, openDatabase } from '../../db/db.ts'
import { newUuid } from '../../lib/ids.ts'
import { messageIdsOf } from './by-network-id.ts'
import { messagesByNetworkId } from './reading/conversation.sql.ts'
import { findReceivedMessages, findSentMessages } from './receiving/inbound.sql.ts'
import type { StatusReport } from './receiving/status-changes.ts'
import { savePlainStatuses, saveStatuses } from './receiving/statuses.ts'
import { claimDue, insertPaces, markCalling } from './sending/outbox.sql.ts'

const server = useTestServer()
const sending = useSending(server)

/** How often `work` read all messages, and how many messages it found by an index. */
const readsOf = (work: (tx: Db) => Promise<unknown>) =>
  server.db.transaction(async (tx) => {
    await work(tx)
    return tx.first<{ ofAll: number; byIndex: number }>(
      `select seq_scan as "ofAll", idx_tup_fetch as "byIndex" from pg_stat_xact_user_tables where relid = 'messages'::regclass`,
    )
  })

async function sentMessage() {
  const shop = await sending.newShop()
  const messageId = (await shop.sendText('16505550123')).id.slice(4)
  const waMessageId = `wamid.${messageId}`
  await server.db.change(`update messages set status = 'sent', wa_message_id = $2, sent_at = now() where id = $1`, [
    messageId,
    waMessageId,
  ])
  const row = await server.db.first<{ senderId: string; workspaceId: string }>(
    'select sender_id as "senderId", workspace_id as "workspaceId" from messages where id = $1',
    [messageId],
  )
  if (!row) throw new Error('the message is missing')
  const report: StatusReport = {
    ...row,
    waMessageId,
    messageId,
    status: 'delivered',
    occurredAt: server.clock.now(),
    error: null,
    recipientUserId: null,
    pricing: null,
  }
  return { shop, report, ...row, messageId, waMessageId }
}

test('a status', async () => {
  const { report, shop } = await sentMessage()
  for (let n = 0; n < 40; n++) await shop.sendText('16505550123')
  const revision = await server.db.first<{ value: number }>('select value from routing_revision')
  const save = (tx: Db) => savePlainStatuses(tx, server.clock.now(), [report], revision?.value ?? 0)
  const reads = await readsOf(save)
  expect(reads?.ofAll).toBe(0)
  // Not the other messages of the sender.
  expect(reads?.byIndex).toBeLessThan(30)
})

test('a status that needs a transaction', async () => {
  const { report } = await sentMessage()
  const save = (tx: Db) => inBriefTransaction(tx, (tx) => saveStatuses(tx, server.clock.now(), [report]))
  expect(await readsOf(save)).toMatchObject({ ofAll: 0 })
})

test('the message that a reply quotes', async () => {
  const { senderId, waMessageId } = await sentMessage()
  expect(await readsOf((tx) => findSentMessages(tx, [{ senderId, waMessageId }]))).toMatchObject({ ofAll: 0 })
})

test('messages to send', async () => {
  const { senderId } = await sentMessage()
  const [now, later] = [server.clock.now(), new Date(server.clock.now().getTime() + 60_000)]
  const claim = async (tx: Db) => {
    await insertPaces(tx, [senderId])
    const quota = { senderId, gapSeconds: 0.01, burst: 10, maxCount: 10 }
    const claimed = await claimDue(tx, [quota], now, later, newUuid())
    expect(claimed).toHaveLength(1)
    expect(await markCalling(tx, claimed, later)).toHaveLength(1)
  }
  expect(await readsOf(claim)).toMatchObject({ ofAll: 0 })
  await server.db.change('delete from outbox')
})

test("a message by WhatsApp's ID, of a sender that had none when the statement was planned", async () => {
  const { senderId, workspaceId } = await sentMessage()
  const [db, asOwner] = [server.connection, asSuperuser(server.connection)].map((each) =>
    openDatabase(each, () => {}, 1),
  ) as [Database, Database]
  onTestFinished(async () => void (await Promise.all([db.close(), asOwner.close()])))
  // With and without row-level security, whose conditions lead to other plans.
  const scopes = [db, db.within(workspaceId), asOwner]
  const waMessageId = 'wamid.in500'
  const named = [{ senderId, waMessageId }]
  const lookUps: Record<string, (tx: Db) => Promise<unknown>> = {
    'a repeated message': (tx) => findReceivedMessages(tx, named),
    'a quoted message': (tx) => findSentMessages(tx, named),
    'a message that others in a conversation refer to': (tx) => messagesByNetworkId(tx, workspaceId, named),
    'a message that is quoted or marked as read': (tx) => messageIdsOf(tx, workspaceId, waMessageId, senderId),
    'a search': (tx) => messageIdsOf(tx, workspaceId, waMessageId),
  }
  for (const scope of scopes) {
    for (const lookUp of Object.values(lookUps)) await scope.transaction(lookUp)
  }
  await server.db.change(
    `insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, type, received_at, recorded_at, content)
     select gen_random_uuid(), $1, $2, 'wamid.in' || n, '16505550123', 'text', now(), now(), '{}' from generate_series(1, 1000) n`,
    [workspaceId, senderId],
  )
  await server.db.change(
    `insert into messages (id, workspace_id, sender_id, wa_message_id, recipient, type, content, status, credits, sent_by, created_at)
     select gen_random_uuid(), $1, $2, 'wamid.out' || n, '16505550123', 'text', '{}', 'sent', 1, 'ada@harbour.example', now() from generate_series(1, 1000) n`,
    [workspaceId, senderId],
  )
  const stored = await server.db.first<{ id: string }>('select id from inbound_messages where wa_message_id = $1', [
    waMessageId,
  ])
  expect(await messageIdsOf(server.db, workspaceId, waMessageId)).toEqual([stored?.id])
  for (const [name, lookUp] of Object.entries(lookUps)) {
    for (const scope of scopes) {
      expect.soft(await rowsRead(scope, 'inbound_messages', lookUp), name).toBeLessThan(5)
      expect.soft(await rowsRead(scope, 'messages', lookUp), name).toBeLessThan(5)
    }
  }
})
