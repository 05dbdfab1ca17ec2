import { expect, onTestFinished, test } from 'vitest'
import { startDatabaseProxy } from '../../../../../testing/database-proxy.ts'
import { attemptsOf, newDeliveryWorker, newLine, openOf } from '../../../../../testing/deliveries.ts'
import { mayIdle } from '../../../../../testing/may-idle.ts'
import { useReceivers } from '../../../../../testing/receiver.ts'
import { useTestServer } from '../../../../../testing/test-server.ts'
import { until } from '../../../../../testing/until.ts'
import { openDatabase } from '../../../../db/db.ts'
import { listDeliveries } from '../../reading/newest.ts'
import { longestIndex } from './durations.ts'

const server = useTestServer()
const newReceiver = useReceivers()

/** A worker behind a proxy, and an endpoint with events that no process has leased yet. */
async function newEndpoint(events: number) {
  const receiver = await newReceiver()
  const line = await newLine(server)
  const { id } = await line.listen(receiver)
  await line.write(events)
  const proxy = await startDatabaseProxy(server.connection)
  const db = openDatabase(proxy.connection, () => {}, 3)
  onTestFinished(() => db.close())
  const worker = newDeliveryWorker({ ...server, db }, { deadlineMs: 10_000 })
  onTestFinished(() => worker.stop(0))
  return { receiver, id, line, proxy, worker }
}

const recording = /insert into delivery_attempts/
const disabling = /update webhooks w set enabled = false/

const stateOf = (id: string) =>
  server.db.first<{ enabled: boolean; failures: number; next_attempt_at: Date | null }>(
    'select enabled, failures, next_attempt_at from webhooks where id = $1',
    [id.slice(4)],
  )

const hoursOf = (id: string) =>
  server.db.rows<{ succeeded: number; failed: number; timed: number }>(
    `select succeeded, failed, (select sum(step)::int from unnest(durations[:${longestIndex}]) as step) as timed
     from delivery_hours where webhook_id = $1`,
    [id.slice(4)],
  )

test('attempts are recorded and counted once if the connection is lost after their commit', async () => {
  const { receiver, id, proxy, worker } = await newEndpoint(4)
  receiver.behave(503)
  const cut = proxy.cutAfterCommit(recording)
  await worker.claim()
  await cut
  await worker.idle()
  // Each event is attempted, and immediately a second time until the fifth failure is recorded.
  const made = receiver.received.length
  expect(await attemptsOf(server, id)).toHaveLength(made)
  expect(await stateOf(id)).toMatchObject({ failures: made })
  expect(await hoursOf(id)).toEqual([{ succeeded: 0, failed: made, timed: made }])
})

test('events that were delivered are counted once if the connection is lost after their commit', async () => {
  const { receiver, id, proxy, worker } = await newEndpoint(10)
  const cut = proxy.cutAfterCommit(recording)
  await worker.claim()
  await cut
  await worker.idle()
  expect(receiver.received).toHaveLength(10)
  expect(await attemptsOf(server, id)).toHaveLength(10)
  expect(await openOf(server, id)).toEqual([])
  expect(await hoursOf(id)).toEqual([{ succeeded: 10, failed: 0, timed: 10 }])
})

test('attempts that end while a batch is repeated are recorded too', async () => {
  const { receiver, id, line, proxy, worker } = await newEndpoint(5)
  const cut = proxy.cutAfterCommit(recording)
  await worker.claim()
  await cut
  await line.write(5)
  await worker.claim()
  await worker.idle()
  expect(receiver.received).toHaveLength(10)
  expect(await attemptsOf(server, id)).toHaveLength(10)
  expect(await hoursOf(id)).toEqual([{ succeeded: 10, failed: 0, timed: 10 }])
})

test.for([
  ['after the last attempt was recorded', recording],
  ['after it was disabled', disabling],
] as const)(
  'an endpoint is disabled once, with one audit entry, if the connection is lost %s',
  async ([_, statement]) => {
    const { receiver, id, proxy, worker } = await newEndpoint(3)
    receiver.behave(503)
    await server.db.change(
      'update webhooks set failures = 19, failing_since = $2, next_attempt_at = $2 where id = $1',
      [id.slice(4), server.clock.now()],
    )
    const cut = proxy.cutAfterCommit(statement)
    await worker.claim()
    await cut
    await worker.idle()
    expect(receiver.received).toHaveLength(1)
    expect(await stateOf(id)).toEqual({ enabled: false, failures: 20, next_attempt_at: null })
    expect(await listDeliveries(server.db, { webhookId: id, state: 'held' })).toHaveLength(3)
    const entries = await server.db.rows(
      `select 1 from audit_entries where target = $1 and action = 'webhook.disable'`,
      [id],
    )
    expect(entries).toHaveLength(1)
  },
)

test('a repetition waits for the first execution, and records the batch if that did not commit', async () => {
  const { receiver, id, proxy, worker } = await newEndpoint(3)
  await server.db.transaction(async (tx) => {
    await mayIdle(tx)
    await tx.rows('lock table delivery_hours in share mode')
    // In the same transaction: PostgreSQL ends an idle transaction.
    const waiting = async () => {
      await tx.rows('select pg_stat_clear_snapshot()')
      const found = await tx.rows(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'with special%'`,
      )
      return found.length
    }
    await worker.claim()
    await until('the first execution waits', async () => (await waiting()) === 1)
    // Its connection is gone, but PostgreSQL still executes it.
    proxy.cut()
    proxy.restore()
    await until('the repetition waits too', async () => (await waiting()) === 2)
  })
  await worker.idle()
  expect(receiver.received).toHaveLength(3)
  expect(await attemptsOf(server, id)).toHaveLength(3)
  expect(await hoursOf(id)).toEqual([{ succeeded: 3, failed: 0, timed: 3 }])
})

test('a batch whose commit was lost in a failover is recorded again', async () => {
  const { receiver, id, proxy, worker } = await newEndpoint(3)
  const cut = proxy.cutAfterCommit(recording)
  await worker.claim()
  await cut
  // The server that takes over does not have what the first one committed last.
  proxy.cut()
  await server.db.transaction(async (tx) => {
    await tx.change('delete from delivery_attempts where webhook_id = $1', [id.slice(4)])
    await tx.change('delete from delivery_hours where webhook_id = $1', [id.slice(4)])
    await tx.change('delete from batch_writers')
  })
  proxy.restore()
  await worker.idle()
  expect(receiver.received).toHaveLength(3)
  expect(await attemptsOf(server, id)).toHaveLength(3)
  expect(await hoursOf(id)).toEqual([{ succeeded: 3, failed: 0, timed: 3 }])
})
