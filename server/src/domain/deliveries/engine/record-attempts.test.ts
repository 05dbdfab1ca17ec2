import { expect, onTestFinished, test } from 'vitest'
import { attemptsOf, localRules, newLine } from '../../../../testing/deliveries.ts'
import { mayIdle } from '../../../../testing/may-idle.ts'
import { useReceivers } from '../../../../testing/receiver.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { newOutbound } from '../../../lib/outbound.ts'
import { DeliveryWorker } from './worker.ts'

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
