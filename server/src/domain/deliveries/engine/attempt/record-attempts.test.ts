import { expect, onTestFinished, test } from 'vitest'
import { asAdmin } from '../../../../../testing/database.ts'
import { attemptsOf, localRules, newDeliveryWorker, newLine, openOf } from '../../../../../testing/deliveries.ts'
import { asSuperuser, query } from '../../../../../testing/filled-database.ts'
import { mayIdle } from '../../../../../testing/may-idle.ts'
import { useReceivers } from '../../../../../testing/receiver.ts'
import { rowsRead } from '../../../../../testing/rows-read.ts'
import { useTestServer } from '../../../../../testing/test-server.ts'
import { until } from '../../../../../testing/until.ts'
import { openDatabase } from '../../../../db/db.ts'
import { newUuid } from '../../../../lib/ids.ts'
import { newOutbound } from '../../../../net/outbound.ts'
import { newLogger } from '../../../../telemetry/logger.ts'
import { DeliveryWorker } from '../worker.ts'
import { recordAttempts, recordSuccesses } from './record-attempts.sql.ts'

const server = useTestServer()
const newReceiver = useReceivers()

/** A worker that notes when an attempt has ended and when a recording begins, and an endpoint with events. */
async function newEndpoint({ events, onEnded, onRecording }: { events: number; onEnded(): void; onRecording(): void }) {
  const receiver = await newReceiver()
  const line = await newLine(server)
  const { id } = await line.listen(receiver)
  await line.write(events)
  const outbound = newOutbound({ ...localRules, ca: null, deadlineMs: 10_000 })
  const { db, clock, secretKeys } = server
  const worker = new DeliveryWorker({
    db: {
      ...db,
      transactionAtOnce(work) {
        onRecording()
        return db.transactionAtOnce(work)
      },
    },
    clock,
    log: server.runtime.log,
    secretKeys,
    outbound: {
      ...outbound,
      async post(...request) {
        const posted = await outbound.post(...request)
        onEnded()
        return posted
      },
    },
    productVersion: 'test',
  })
  onTestFinished(() => worker.stop(0))
  return { id, line, receiver, worker }
}

test('recording an attempt begins as soon as it has ended', async () => {
  const order: string[] = []
  const { id, worker } = await newEndpoint({
    events: 1,
    onEnded: () => void setTimeout(() => order.push('15 ms later'), 15),
    onRecording: () => order.push('recording'),
  })
  await worker.claim()
  await until('both', () => order.length === 2)
  expect(order).toEqual(['recording', '15 ms later'])
  await worker.idle()
  expect(await attemptsOf(server, id)).toHaveLength(1)
})

test('attempts that end while others are being recorded are recorded together', async () => {
  let ended = 0
  let recordings = 0
  const { id, line, worker } = await newEndpoint({
    events: 1,
    onEnded: () => void ended++,
    onRecording: () => void recordings++,
  })
  await server.db.transaction(async (tx) => {
    await mayIdle(tx)
    await tx.rows('select 1 from webhooks where id = $1 for update', [id.slice(4)])
    await worker.claim()
    await until('the first recording waits', () => recordings === 1)
    await line.write(30)
    await until('the others have ended', () => ended === 31)
  })
  await worker.idle()
  expect(recordings).toBe(2)
  expect(await attemptsOf(server, id)).toHaveLength(31)
})

test('recording an attempt waits for the disk, so a crash of PostgreSQL does not undo it', async () => {
  await asAdmin(`alter database ${server.connection.database} set synchronous_commit = on`)
  await server.db.script(`create table recorded (webhook_id uuid, waits text);
    create function note_commit() returns trigger language plpgsql as
      $$ begin insert into recorded values (new.webhook_id, current_setting('synchronous_commit')); return null; end $$;
    create trigger note_commit after insert on delivery_attempts for each row execute function note_commit()`)
  onTestFinished(() => server.db.script('drop function note_commit cascade; drop table recorded'))
  const db = openDatabase(server.connection, () => {}, 2)
  onTestFinished(() => db.close())
  const worker = newDeliveryWorker({ ...server, db })
  onTestFinished(() => worker.stop(0))
  const line = await newLine(server)
  const { id } = await line.listen(await newReceiver())
  await line.write()
  await worker.drain()
  const recorded = await server.db.rows('select waits from recorded where webhook_id = $1', [id.slice(4)])
  expect(recorded).toEqual([{ waits: 'on' }])
})

test('an attempt that PostgreSQL never accepts does not keep its failing endpoint from the next attempts', async () => {
  const receiver = await newReceiver()
  const line = await newLine(server)
  const { id } = await line.listen(receiver)
  await line.write(2)
  await server.db.script(`update webhooks set failures = 10, next_attempt_at = '2000-01-01' where id = '${id.slice(4)}';
    create function refuse_once() returns trigger language plpgsql as $$ begin
      if new.webhook_id = '${id.slice(4)}' and new.status = 200 then raise check_violation; end if; return new; end $$;
    create trigger refuse_once before insert on delivery_attempts for each row execute function refuse_once()`)
  onTestFinished(() => server.db.script('drop function if exists refuse_once cascade'))
  const worker = newDeliveryWorker(server)
  onTestFinished(() => worker.stop(0))
  await worker.claim()
  await worker.idle()
  expect(receiver.received).toHaveLength(1)
  await server.db.script('drop function refuse_once cascade')
  server.clock.forward({ seconds: 61 })
  await worker.drain()
  expect(await openOf(server, id)).toEqual([])
})

test('a webhook that someone disabled before its last failure was counted is not logged as disabled after failures', async () => {
  const lines: string[] = []
  const log = newLogger('warn', { write: (line) => void lines.push(line) })
  const receiver = await newReceiver()
  receiver.behave(500)
  const line = await newLine(server)
  const newFailing = async () => {
    const { id } = await line.listen(receiver)
    await server.db.change(`update webhooks set failures = 19, next_attempt_at = '2000-01-01' where id = $1`, [
      id.slice(4),
    ])
    return id
  }
  const [alone, disabledBefore] = [await newFailing(), await newFailing()]
  const disableBefore = `update webhooks set enabled = false, disabled_at = $2, disabled_reason = 'manually'
    where id = $1 and enabled and failures >= 20`
  const { clock, secretKeys } = server
  const worker = new DeliveryWorker({
    db: {
      ...server.db,
      // As another process would, after the failure was counted.
      async transaction(work) {
        await server.db.change(disableBefore, [disabledBefore.slice(4), clock.now()])
        return server.db.transaction(work)
      },
    },
    ...{ clock, log, secretKeys, productVersion: 'test' },
    outbound: newOutbound({ ...localRules, ca: null, deadlineMs: 10_000 }),
  })
  onTestFinished(() => worker.stop(0))
  await line.write()
  await worker.claim()
  await worker.idle()
  const endpoints = await server.db.rows(
    'select enabled, disabled_reason as reason from webhooks where workspace_id = $1',
    [line.workspace.id],
  )
  expect(endpoints).toHaveLength(2)
  expect(endpoints).toContainEqual({ enabled: false, reason: 'manually' })
  const logged = lines.map((each) => JSON.parse(each)).filter(({ event }) => event === 'webhook.disabled')
  expect(logged).toMatchObject([{ webhook_id: alone.slice(4) }])
})

test('recording an attempt reads no other delivery of its webhook, even if there was none when it was planned', async () => {
  const { id } = await (await newLine(server)).listen(await newReceiver())
  const webhookId = id.slice(4)
  const [now, lease] = [server.clock.now(), newUuid()]
  const addDeliveries = (count: number) =>
    server.db.rows<{ id: string }>(
      `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, due_at, lease)
       select gen_random_uuid(), $1, gen_random_uuid(), now(), now(), $2 from generate_series(1, $3::int) returning event_id as id`,
      [webhookId, lease, count],
    )
  await addDeliveries(1000)
  await server.db.change('delete from deliveries')
  await query(asSuperuser(server.connection), 'vacuum deliveries')
  const attempt = {
    webhookId,
    workspaceId: newUuid(),
    eventCreatedAt: now,
    at: now,
    number: 1,
    trigger: 'first' as const,
    lastIndex: 0,
    state: 'delivered' as const,
    address: null,
    status: 200,
    error: null,
    answer: Buffer.alloc(0),
    responseHeaders: null,
    signatures: '',
    durationUs: 1,
    lease,
    dueAt: null,
    nextLease: null,
    endedAt: now,
    secretChangedAt: null,
    isTest: false,
  }
  const run = {
    webhookId,
    leading: 0,
    succeeded: true,
    trailing: 0,
    since: null,
    succeededAt: now,
    endedAt: now,
    hadTurn: false,
    failedTurn: false,
  }
  const db = openDatabase(server.connection, () => {}, 1)
  onTestFinished(() => db.close())
  const recordings = [
    { record: recordSuccesses, dueAt: null, left: 999 },
    { record: recordAttempts, dueAt: null, left: 999 },
    { record: recordAttempts, dueAt: now, left: 1000 },
  ]
  for (const { record, dueAt, left } of recordings) {
    const reads = (eventId = '') =>
      rowsRead(db, 'deliveries', (tx) =>
        record(
          tx,
          { writer: newUuid(), batch: 1 },
          { attempts: [{ ...attempt, dueAt, eventId }], runs: [run], hours: [] },
        ),
      )
    expect(await reads(newUuid())).toBe(0)
    const added = await addDeliveries(1000)
    expect(await reads(added[500]?.id)).toBeLessThan(10)
    expect(await openOf(server, id)).toHaveLength(left)
    await server.db.change('delete from deliveries')
  }
})
