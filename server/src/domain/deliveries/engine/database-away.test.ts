import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startDatabaseProxy } from '../../../../testing/database-proxy.ts'
import { attemptsOf, newDeliveryWorker, newLine, openOf } from '../../../../testing/deliveries.ts'
import { useReceivers } from '../../../../testing/receiver.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { type Database, openDatabase } from '../../../db/db.ts'
import { systemClock } from '../../../lib/clock.ts'
import { RoutingRevision } from './attempt/routing-revision.ts'
import { currentMs } from './attempt/targets.ts'

const server = useTestServer()
const newReceiver = useReceivers()

/** The maximum number of concurrent attempts of a process at one endpoint. */
const concurrencyMax = 64

/** An endpoint with events that no process has leased yet. */
async function withEvents(count: number) {
  const receiver = await newReceiver()
  receiver.behave((response) => void setTimeout(() => response.end(), 100))
  const line = await newLine(server)
  const { id } = await line.listen(receiver)
  await line.write(count)
  return { receiver, id }
}

async function behindProxy() {
  const proxy = await startDatabaseProxy(server.connection)
  const db = openDatabase(proxy.connection, () => {}, 3)
  onTestFinished(() => db.close())
  return { proxy, db }
}

function startWorker(db: Database) {
  const worker = newDeliveryWorker({ ...server, db }, { deadlineMs: 10_000 })
  onTestFinished(() => worker.stop(0))
  return worker
}

/** Cuts off the database while attempts are in flight, and checks that others begin only while the last revision is current. */
async function cutOffDatabase(receiver: { received: unknown[] }, proxy: { cut(): void }) {
  await until('attempts are in flight', () => receiver.received.length > 50)
  proxy.cut()
  await sleep(currentMs)
  const before = receiver.received.length
  await sleep(1_000)
  expect(receiver.received.length - before).toBeLessThanOrEqual(concurrencyMax)
}

test('no attempt starts while the database is unreachable, and deliveries continue when it is back', async () => {
  const { receiver, id } = await withEvents(300)
  const { proxy, db } = await behindProxy()
  const worker = startWorker(db)
  expect(await worker.claim()).toBe(300)
  await cutOffDatabase(receiver, proxy)
  proxy.restore()
  await worker.idle()
  expect(receiver.received).toHaveLength(300)
  expect(await attemptsOf(server, id)).toHaveLength(300)
  expect(await openOf(server, id)).toEqual([])
})

test('an attempt does not start if its lease became too short while the database was unreachable', async () => {
  const { receiver, id } = await withEvents(400)
  const { proxy, db } = await behindProxy()
  const worker = startWorker(db)
  await worker.claim()
  await cutOffDatabase(receiver, proxy)
  const before = receiver.received.length
  server.clock.forward({ seconds: 16 })
  proxy.restore()
  await worker.idle()
  expect(receiver.received).toHaveLength(before)
  server.clock.forward({ seconds: 14 })
  await worker.drain()
  expect(receiver.received).toHaveLength(400)
  expect(await openOf(server, id)).toEqual([])
})

test('an attempt whose lease ended while it could not be recorded is recorded later, and not repeated', async () => {
  const { receiver, id } = await withEvents(1)
  const { proxy, db } = await behindProxy()
  const worker = startWorker(db)
  receiver.next((response) => {
    proxy.cut()
    response.end()
  })
  const failures = () => server.logged.filter((line) => line.includes('delivery.recording_failed')).length
  const before = failures()
  await worker.claim()
  await until('recording it fails', () => failures() > before)
  server.clock.forward({ seconds: 31 })
  proxy.restore()
  await worker.claim()
  await worker.drain()
  expect(receiver.received).toHaveLength(1)
  expect(await attemptsOf(server, id)).toMatchObject([{ state: 'delivered', number: 1 }])
  expect(await openOf(server, id)).toEqual([])
})

test('a worker that stops releases the deliveries that wait for a refresh of the targets', async () => {
  const { receiver, id } = await withEvents(20)
  const worker = startWorker({ ...server.db, session: () => new Promise(() => {}) })
  expect(await worker.claim()).toBe(20)
  await sleep(50)
  await worker.stop(0)
  expect(receiver.received).toEqual([])
  const open = await server.db.rows('select lease, due_at from deliveries where webhook_id = $1', [id.slice(4)])
  expect(open).toEqual(Array(20).fill({ lease: null, due_at: server.clock.now() }))
})

test('a read of the routing revision that hangs times out, and the next one opens a new connection', async () => {
  const { proxy, db } = await behindProxy()
  const revision = new RoutingRevision(db, systemClock)
  onTestFinished(() => revision.close())
  const value = await revision.read()
  proxy.hang()
  await expect(revision.read()).rejects.toThrow('Connection terminated')
  proxy.restore()
  expect(await revision.read()).toBe(value)
})
