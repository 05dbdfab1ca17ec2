import { expect, test } from 'vitest'
import { eventsOf } from '../../../../testing/network-app.ts'
import { useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import type { Db } from '../../../db/db.ts'
import { newLogger } from '../../../telemetry/logger.ts'
import type { GraphClient } from '../../../whatsapp/graph/client.ts'
import { savePlainStatuses } from '../receiving/statuses.ts'
import { newOutbox } from './outbox.ts'

const server = useTestServer()
const sending = useSending(server)

/** The same database, which notes the text of every statement. */
function noting(db: Db, texts: string[]): Db {
  const noted =
    <Result>(run: (text: string, values?: readonly unknown[]) => Promise<Result>) =>
    (text: string, values?: readonly unknown[]) => {
      texts.push(text)
      return run(text, values)
    }
  return {
    ...db,
    rows: noted(db.rows) as Db['rows'],
    first: noted(db.first) as Db['first'],
    change: noted(db.change),
    transaction: (work) => db.transaction((tx) => work(noting(tx, texts))),
    transactionAtOnce: (work) => db.transactionAtOnce((tx) => work(noting(tx, texts))),
  }
}

test('the results of messages that were sent are recorded by one statement for several of them', async () => {
  const shops = [await sending.newShop(), await sending.newShop()]
  const ids: string[] = []
  for (const shop of shops) for (let n = 0; n < 6; n++) ids.push((await shop.sendText(`1650555060${n}`)).id)
  // Their statuses come from the responses to the calls only.
  sending.network.control.switches.set({ delayWebhooksMs: 3_600_000 })
  const texts: string[] = []
  const { network } = sending.network
  await newOutbox({ ...network, db: noting(network.db, texts) }, newLogger('silent')).drain()
  sending.network.control.switches.set({ delayWebhooksMs: 0 })
  const writes = texts.filter((text) =>
    /message_statuses|update messages|delete from outbox|insert into events/.test(text),
  )
  expect(writes.length).toBeGreaterThan(0)
  expect(writes.length).toBeLessThan(ids.length)
  for (const text of writes)
    expect(text).toMatch(/update messages[\s\S]*message_statuses[\s\S]*delete from outbox[\s\S]*insert into events/)
  for (const shop of shops) {
    const events = await eventsOf(server, shop.workspace.id)
    expect(events.map(({ type }) => type)).toEqual(Array(6).fill('message.sent'))
    for (const { data } of events) expect(await shop.look(String(data.message_id))).toMatchObject({ status: 'sent' })
  }
})

test('a status that arrived before the response to the call is recorded with it, next to messages without one', async () => {
  const shop = await sending.newShop()
  const early = await shop.sendText('16505550123')
  const other = await shop.sendText('16505550124')
  await server.db.change(
    `insert into early_statuses (sender_id, workspace_id, wa_message_id, status, occurred_at, recorded_at)
     values ($1, $2, $3, 'delivered', $4, $4)`,
    [shop.senderId.slice(4), shop.workspace.id, `wamid.${early.id}`, server.clock.now()],
  )
  const { network } = sending.network
  const sendMessage: GraphClient['sendMessage'] = async (_access, _number, { biz_opaque_callback_data: id }) => {
    return { kind: 'ok', value: { waMessageId: `wamid.${id}`, waId: null, userId: null, held: false } }
  }
  const client = Object.assign(Object.create(network.client) as GraphClient, { sendMessage })
  await newOutbox({ ...network, client }, newLogger('silent')).drain()
  const statusesOf = async (id: string) => (await shop.look(id)).history.map(({ status }) => status)
  expect(await statusesOf(early.id)).toEqual(['queued', 'sent', 'delivered'])
  expect(await statusesOf(other.id)).toEqual(['queued', 'sent'])
  const types = (await eventsOf(server, shop.workspace.id)).map(({ type }) => type).sort()
  expect(types).toEqual(['message.delivered', 'message.sent', 'message.sent'])
})

test('neither a first status before the response to the call, nor the response after it, takes a transaction', async () => {
  const shop = await sending.newShop()
  const { id } = await shop.sendText('16505550123')
  const { network } = sending.network
  const sendMessage: GraphClient['sendMessage'] = async () => {
    const revision = await server.db.first<{ value: number }>('select value from routing_revision')
    const report = { senderId: shop.senderId.slice(4), workspaceId: shop.workspace.id, messageId: id.slice(4) }
    const status = { status: 'sent', occurredAt: server.clock.now(), error: null, recipientUserId: null } as const
    const pricing = { category: 'utility', type: 'regular', model: 'PMP', billable: true, cost: null }
    const reports = [{ ...report, ...status, pricing, waMessageId: 'wamid.first' }]
    expect(await savePlainStatuses(server.db, server.clock.now(), reports, revision?.value ?? 0)).toEqual([])
    expect(await server.db.rows('select from outbox where message_id = $1', [report.messageId])).toEqual([])
    return { kind: 'ok', value: { waMessageId: 'wamid.first', waId: null, userId: null, held: false } }
  }
  const client = Object.assign(Object.create(network.client) as GraphClient, { sendMessage })
  const texts: string[] = []
  await newOutbox({ ...network, client, db: noting(network.db, texts) }, newLogger('silent')).drain()
  expect(texts.filter((text) => text.includes('for update of m'))).toHaveLength(1)
  expect(await shop.look(id)).toMatchObject({ status: 'sent', history: [{ status: 'queued' }, { status: 'sent' }] })
  const events = await eventsOf(server, shop.workspace.id)
  expect(events.map(({ type, data }) => [type, data.pricing])).toMatchObject([
    ['message.sent', { category: 'utility' }],
  ])
})

test('a claim does not wait for the disk', async () => {
  const shop = await sending.newShop()
  await shop.sendText('16505550123')
  const { network } = sending.network
  await server.db
    .transaction(async (tx) => {
      await tx.rows(`select set_config('synchronous_commit', 'on', true)`)
      const texts: string[] = []
      expect(
        await newOutbox({ ...network, db: noting(tx, texts) }, newLogger('silent'), { onStep: crash }).sendDue(),
      ).toBe(1)
      expect(await tx.first('show synchronous_commit')).toEqual({ synchronous_commit: 'off' })
      throw new Error('undo')
    })
    .catch((error: Error) => expect(error.message).toBe('undo'))
  await sending.drain()
})

function crash(): never {
  throw new Error('killed')
}
