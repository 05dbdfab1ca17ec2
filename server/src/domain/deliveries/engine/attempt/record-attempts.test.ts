import { expect, onTestFinished, test } from 'vitest'
import { asAdmin } from '../../../../../testing/database.ts'
import { attemptsOf, localRules, newDeliveryWorker, newLine, openOf } from '../../../../../testing/deliveries.ts'
import { mayIdle } from '../../../../../testing/may-idle.ts'
import { useReceivers } from '../../../../../testing/receiver.ts'
import { useTestServer } from '../../../../../testing/test-server.ts'
import { until } from '../../../../../testing/until.ts'
import { openDatabase } from '../../../../db/db.ts'
import { newOutbound } from '../../../../net/outbound.ts'
import { DeliveryWorker } from '../worker.ts'

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
