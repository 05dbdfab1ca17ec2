import { expect, test } from 'vitest'
import { newLine } from '../../../../testing/deliveries.ts'
import { useReceivers } from '../../../../testing/receiver.ts'
import { rowsRead } from '../../../../testing/rows-read.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newUuid } from '../../../lib/ids.ts'
import { retryFailedSince } from '../retry.ts'
import { listDeliveries } from './newest.ts'

const server = useTestServer()
const newReceiver = useReceivers()

const newIds = (count: number) => Array.from({ length: count }, () => newUuid())

/** Opens deliveries of new events for an endpoint, each later than the ones before. */
async function open(webhookId: string, count: number, attempts = 0): Promise<void> {
  await server.db.rows(
    `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, attempts, due_at)
     select id.*, w.id, w.workspace_id, $4, $3, $4 from unnest($2::uuid[]) as id, webhooks w where w.id = $1`,
    [webhookId.slice(4), newIds(count), attempts, server.clock.now()],
  )
}

async function newEndpoint(): Promise<string> {
  const line = await newLine(server)
  return (await line.listen(await newReceiver())).id
}

test('a state is looked for among all open deliveries of an endpoint, and reads no more than its newest 10,000', async () => {
  const webhookId = await newEndpoint()
  await open(webhookId, 2, 1)
  await open(webhookId, 60)
  const states = async (state?: 'pending' | 'retrying' | 'held') =>
    (await listDeliveries(server.db, { webhookId, state, limit: 50 })).map((each) => each.state)
  expect(await states('retrying')).toEqual(['retrying', 'retrying'])
  expect(await states('pending')).toHaveLength(50)
  expect(await states('held')).toEqual([])
  await server.db.change('update webhooks set enabled = false, disabled_at = $2 where id = $1', [
    webhookId.slice(4),
    new Date(server.clock.now().getTime() + 1_000),
  ])
  expect(await states('held')).toHaveLength(50)
  expect(await states('retrying')).toEqual([])
  await open(webhookId, 12_000)
  const read = await rowsRead(server.db, 'deliveries', (tx) =>
    listDeliveries(tx, { webhookId, state: 'pending', limit: 50 }),
  )
  expect(read).toBeLessThan(10_100)
  const newest = await rowsRead(server.db, 'deliveries', (tx) => listDeliveries(tx, { webhookId, limit: 50 }))
  expect(newest).toBeLessThan(200)
})

test('failed deliveries that are open again do not hide the others', async () => {
  const webhookId = await newEndpoint()
  const now = server.clock.now()
  const fail = (count: number, at: Date) =>
    server.db.rows(
      `with made as (select unnest($2::uuid[]) as id), events as (
         insert into events (id, workspace_id, type, body, created_at)
         select m.id, w.workspace_id, 'message.received', '\\x7b7d', $3 from made m, webhooks w where w.id = $1
       )
       insert into delivery_attempts (at, event_id, webhook_id, workspace_id, event_created_at, number, trigger, state, status, answer, duration_us)
       select $3, m.id, w.id, w.workspace_id, $3, 9, 'retry', 'failed', 500, '', 1 from made m, webhooks w where w.id = $1`,
      [webhookId.slice(4), newIds(count), at],
    )
  await fail(2, new Date(now.getTime() - 60_000))
  await fail(50, now)
  const failed = () => listDeliveries(server.db, { webhookId, state: 'failed', limit: 50 })
  expect(await failed()).toHaveLength(50)
  expect(await retryFailedSince(server.db, server.clock, webhookId, now)).toMatchObject({ count: 50 })
  expect(await failed()).toHaveLength(2)
})
