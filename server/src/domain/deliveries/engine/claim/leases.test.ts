import { expect, onTestFinished, test } from 'vitest'
import { attemptsOf, newDeliveryWorker, newLine, openOf } from '../../../../../testing/deliveries.ts'
import { useReceivers } from '../../../../../testing/receiver.ts'
import { useTestServer } from '../../../../../testing/test-server.ts'
import { until } from '../../../../../testing/until.ts'
import { DatabaseClock } from '../../../../db/database-clock.ts'
import { ensureToday } from '../../../../db/partitions.ts'
import { newUuid } from '../../../../lib/ids.ts'
import type { HandedDelivery } from '../first-attempts.ts'
import { publish } from '../publish/publish.ts'
import { releaseLeases } from './claim.sql.ts'

const server = useTestServer()
const newReceiver = useReceivers()

function startWorker() {
  const worker = newDeliveryWorker(server)
  onTestFinished(() => worker.stop(0))
  return worker
}

async function newEndpoint() {
  const receiver = await newReceiver()
  const line = await newLine(server)
  return { receiver, line, ...(await line.listen(receiver)) }
}

test('deliveries published by a process without a worker are claimed by a worker', async () => {
  const { receiver, line, id } = await newEndpoint()
  await line.write(3)
  expect(await openOf(server, id)).toHaveLength(3)
  await startWorker().drain()
  expect(receiver.received).toHaveLength(3)
  expect(await openOf(server, id)).toEqual([])
})

test('a lease without a result expires after 30 seconds, and a worker claims the delivery again', async () => {
  const { receiver, line, id } = await newEndpoint()
  await line.write()
  const leaseUntil = new Date(server.clock.now().getTime() + 30_000)
  await server.db.change('update deliveries set lease = $2, due_at = $3 where webhook_id = $1', [
    id.slice(4),
    newUuid(),
    leaseUntil,
  ])
  const worker = startWorker()
  server.clock.forward({ seconds: 29 })
  await worker.drain()
  expect(receiver.received).toEqual([])
  server.clock.forward({ seconds: 1 })
  await worker.drain()
  expect(receiver.received).toHaveLength(1)
})

test('a worker that lost the lease records the attempt but does not change the delivery', async () => {
  const { receiver, line, id } = await newEndpoint()
  const other = newUuid()
  receiver.behave((response) => {
    server.db
      .change(`update deliveries set lease = $2, due_at = 'infinity' where webhook_id = $1`, [id.slice(4), other])
      .then(() => response.end())
  })
  const worker = startWorker()
  await line.write()
  await worker.drain()
  expect(await attemptsOf(server, id)).toMatchObject([{ state: 'delivered', status: 200 }])
  expect(await openOf(server, id)).toHaveLength(1)
})

test('a process that was frozen during an attempt until its lease ended does not retry it by itself', async () => {
  const { receiver, line, id } = await newEndpoint()
  receiver.next((response) => {
    server.clock.forward({ seconds: 31 })
    response.writeHead(500).end()
  })
  const worker = startWorker()
  await line.write()
  await worker.idle()
  expect(receiver.received).toHaveLength(1)
  const open = 'select lease, due_at, attempts from deliveries where webhook_id = $1'
  expect(await server.db.rows(open, [id.slice(4)])).toEqual([{ lease: null, due_at: server.clock.now(), attempts: 1 }])
  await worker.drain()
  expect(receiver.received).toHaveLength(2)
})

test('a lease that ended while the machine was suspended is not used', async () => {
  const { receiver, line, id } = await newEndpoint()
  // The clock that leases are compared with is behind by as long as the machine was suspended.
  const clock = new DatabaseClock({ wall: () => Date.now() - 40_000, monotonic: () => performance.now() })
  await ensureToday(server.db, clock)
  const worker = newDeliveryWorker({ ...server, clock })
  onTestFinished(() => worker.stop(0))
  const event = { workspaceId: line.workspace.id, type: 'message.received', data: {} } as const
  await publish(server.db, clock.now(), [event])
  await worker.idle()
  expect(receiver.received).toEqual([])
  expect(await openOf(server, id)).toHaveLength(1)
  await worker.drain()
  expect(receiver.received).toHaveLength(1)
})

test('a stopped worker releases its deliveries, and the next worker attempts them immediately', async () => {
  const { receiver, line, id } = await newEndpoint()
  receiver.behave(() => {})
  const first = newDeliveryWorker(server, { deadlineMs: 10_000 })
  await line.write(20)
  await until('some attempts are in flight', () => receiver.received.length >= 8)
  await first.stop(0)
  const open = await server.db.rows<{ lease: string | null; due_at: Date; attempts: number }>(
    'select lease, due_at, attempts from deliveries where webhook_id = $1',
    [id.slice(4)],
  )
  expect(open).toEqual(Array(20).fill({ lease: null, due_at: server.clock.now(), attempts: 0 }))
  expect(await attemptsOf(server, id)).toEqual([])
  receiver.behave(200)
  await startWorker().drain()
  expect(new Set(receiver.received.map((each) => each.id)).size).toBe(20)
  expect(await openOf(server, id)).toEqual([])
})

/** Leases the open deliveries of an endpoint, as a process without a worker writes them. */
const leaseAll = (id: string) =>
  server.db.rows<HandedDelivery>(
    `update deliveries set lease = gen_random_uuid(), due_at = $2 where webhook_id = $1
     returning webhook_id as "webhookId", event_id as "eventId", lease`,
    [id.slice(4), new Date(server.clock.now().getTime() + 30_000)],
  )

test('a stopped worker releases what another process hands to it before it knows', async () => {
  const { line, id } = await newEndpoint()
  await line.write(3)
  const worker = newDeliveryWorker(server)
  await worker.stop(0)
  const handed = await leaseAll(id)
  worker.receive(handed)
  const leases = 'select count(lease)::int as count from deliveries where webhook_id = $1'
  await until('they are released', async () => {
    const row = await server.db.first<{ count: number }>(leases, [id.slice(4)])
    return row?.count === 0
  })
  expect(worker.full()).toBe(null)
})

test('releasing leases locks endpoints in the order in which recording attempts locks them', async () => {
  const [one, two] = [await newEndpoint(), await newEndpoint()]
  const [low = '', high = ''] = [one.id.slice(4), two.id.slice(4)].sort()
  // Its row is now behind the other one in the table.
  await server.db.change('update webhooks set next_attempt_at = $2 where id = $1', [high, server.clock.now()])
  await server.db.change('update webhooks set next_attempt_at = $2 where id = $1', [low, server.clock.now()])
  const items = [high, low].map((webhookId) => ({
    webhookId,
    eventId: newUuid(),
    lease: newUuid(),
    attempts: 0,
    trigger: 'first' as const,
    hasTurn: true,
  }))
  const isLocked = async (id: string) =>
    !(await server.db.first('select 1 from webhooks where id = $1 for update skip locked', [id]))
  let releasing: Promise<unknown> | undefined
  await server.db.transaction(async (recording) => {
    await recording.rows('select id from webhooks where id = $1 for update', [low])
    releasing = releaseLeases(server.db, items, server.clock.now())
    await until('it waits for the first endpoint', async () => {
      const waiting = await server.db.first(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return waiting !== undefined
    })
    expect(await isLocked(high)).toBe(false)
  })
  await releasing
})
