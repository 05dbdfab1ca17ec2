import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { newDeliveryWorker, newLine } from '../../../../../testing/deliveries.ts'
import { mayIdle } from '../../../../../testing/may-idle.ts'
import { useReceivers } from '../../../../../testing/receiver.ts'
import { useTestServer } from '../../../../../testing/test-server.ts'
import { until } from '../../../../../testing/until.ts'
import { claimInTurn } from '../claim/claims.ts'
import { planMissingVisits, planVisits } from '../visits.sql.ts'

const server = useTestServer()
const newReceiver = useReceivers()

// Claims take the deliveries of all tests.
beforeEach(async () => {
  await server.db.change('delete from deliveries')
  await server.db.change('delete from endpoint_visits')
})

function startWorker() {
  const worker = newDeliveryWorker(server, { deadlineMs: 30_000 })
  onTestFinished(() => worker.stop(0))
  return worker
}

test('64 endpoints of one workspace that do not respond leave slots for another workspace', async () => {
  startWorker()
  const slow = await newReceiver()
  slow.behave(() => {})
  const hog = await newLine(server)
  for (let index = 0; index < 64; index++) await hog.listen(slow)
  await hog.write(16)
  await until('its attempts have their share of the slots', () => slow.received.length >= 256)
  const receiver = await newReceiver()
  const other = await newLine(server)
  await other.listen(receiver)
  await other.write(20)
  await until('the events of the other workspace arrive', () => receiver.received.length === 20)
  await sleep(200)
  expect(slow.received).toHaveLength(256)
})

/** Inserts deliveries that wait to be claimed, without a process that attempts them. */
async function addWaiting(webhookId: string, workspaceId: string, count: number): Promise<void> {
  await server.db.change(
    `with event as (
       insert into events (id, workspace_id, type, body, created_at)
       select gen_random_uuid(), $2, 'message.received', '{}', $4 from generate_series(1, $3::int) returning id
     )
     insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, due_at)
     select id, $1, $2, $4, $4 from event`,
    [webhookId.slice(4), workspaceId, count, server.clock.now()],
  )
}

/** Claims as a process does, and returns how many deliveries of each endpoint it got. */
async function claim(except: readonly string[] = [], capacity = 1_000) {
  const now = server.clock.now()
  const leaseUntil = new Date(now.getTime() + 30_000)
  const lease = crypto.randomUUID()
  const { rows } = await claimInTurn(server.db, { now, lease, leaseUntil, except, capacityOf: () => capacity })
  server.clock.forward({ ms: 5 })
  return rows
}

test('claims take from every endpoint in turn, however much waits at the others', async () => {
  const receiver = await newReceiver()
  const hog = await newLine(server)
  for (let index = 0; index < 100; index++) {
    await addWaiting((await hog.listen(receiver)).id, hog.workspace.id, 30)
  }
  await expect(hog.listen(receiver)).rejects.toThrow('limit of 100 webhooks')
  await planMissingVisits(server.db, server.clock.now())
  server.clock.forward({ ms: 5 })
  const other = await newLine(server)
  const { id } = await other.listen(receiver)
  await addWaiting(id, other.workspace.id, 10)
  await planMissingVisits(server.db, server.clock.now())
  const first = await claim()
  const counts = Map.groupBy(first, (row) => row.webhookId)
  expect(counts.size).toBe(100)
  expect(new Set([...counts.values()].map((rows) => rows.length))).toEqual(new Set([3]))
  // Its workspace has a share of the claim like the other one, which has a hundred endpoints.
  const second = await claim()
  expect(second.filter((row) => row.webhookId === id.slice(4))).toHaveLength(10)
  // Two processes at the same time take different rows, and in the end every row was taken once.
  const taken = [...first, ...second]
  for (let round = 0; round < 40; round++) taken.push(...(await Promise.all([claim(), claim()])).flat())
  expect(new Set(taken.map((row) => row.webhookId + row.eventId)).size).toBe(taken.length)
  expect(taken).toHaveLength(3_010)
})

test('an endpoint that a process leaves out is claimed by another one', async () => {
  const line = await newLine(server)
  const { id } = await line.listen(await newReceiver())
  await line.write(3)
  expect(await claim([id.slice(4)])).toEqual([])
  expect(await claim()).toHaveLength(3)
})

test('an endpoint without due deliveries, or with held ones only, is not visited', async () => {
  const line = await newLine(server)
  const { id } = await line.listen(await newReceiver())
  await line.write(2)
  expect(await claim()).toHaveLength(2)
  await server.db.change(`update deliveries set due_at = 'infinity' where webhook_id = $1`, [id.slice(4)])
  for (const seconds of [0, 1, 30, 30]) {
    server.clock.forward({ seconds })
    expect(await claim()).toEqual([])
  }
  const visits = 'select 1 from endpoint_visits where webhook_id = $1'
  expect(await server.db.rows(visits, [id.slice(4)])).toEqual([])
  await line.write()
  expect(await server.db.rows(visits, [id.slice(4)])).toHaveLength(1)
})

test('a claim finds what was committed after another claim had visited the endpoint', async () => {
  const line = await newLine(server)
  const { id } = await line.listen(await newReceiver())
  await line.write()
  await server.db.transaction(async (tx) => {
    await mayIdle(tx)
    // Relies on the visit that the first message has planned.
    await tx.change(
      `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, due_at)
       values (gen_random_uuid(), $1, $2, $3, $3)`,
      [id.slice(4), line.workspace.id, server.clock.now()],
    )
    expect(await claim()).toHaveLength(1)
    expect(await claim()).toHaveLength(0)
  })
  server.clock.forward({ seconds: 1 })
  expect(await claim()).toHaveLength(1)
})

test('a delivery without a visit is claimed soon, although a later visit of its endpoint is planned', async () => {
  const line = await newLine(server)
  const { id } = await line.listen(await newReceiver())
  const webhookIds = [id.slice(4)]
  await planVisits(server.db, line.workspace.id, webhookIds, new Date(server.clock.now().getTime() + 21_600_000))
  // As a transaction inserts it that took longer than the claims look again.
  await addWaiting(id, line.workspace.id, 1)
  await planMissingVisits(server.db, server.clock.now())
  expect(await claim()).toHaveLength(1)
})

test('what a process has no capacity for any more when it visits the endpoint is claimed a second later', async () => {
  const line = await newLine(server)
  const { id } = await line.listen(await newReceiver())
  await line.write()
  expect(await claim()).toHaveLength(1)
  await addWaiting(id, line.workspace.id, 1)
  for (let visit = 0; visit < 2; visit++) {
    expect(await claim([], 0)).toEqual([])
    server.clock.forward({ seconds: 1 })
  }
  expect(await claim()).toHaveLength(1)
})
