import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { attemptsOf, newDeliveryWorker, newLine, openOf } from '../../../../testing/deliveries.ts'
import { useReceivers } from '../../../../testing/receiver.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { rotateWebhook } from '../../webhooks/webhooks.ts'

const server = useTestServer()
const newReceiver = useReceivers()

/** A worker of a process that was started with other keys than those the secrets were sealed with. */
function workerWithoutKeys() {
  const secretKeys = new Map([['other', randomBytes(32)]])
  const worker = newDeliveryWorker({ ...server, secretKeys })
  onTestFinished(() => worker.stop(0))
  return { worker, secretKeys }
}

const complaints = () => server.logged.filter((line) => line.includes('endpoint.secret_unreadable'))

test('deliveries whose endpoint’s secret does not open are kept, untried, and made when the key is back', async () => {
  const [receiver, line] = [await newReceiver(), await newLine(server)]
  const { id } = await line.listen(receiver)
  const before = complaints().length
  const { worker: without } = workerWithoutKeys()
  await line.write(3)
  await without.drain()
  server.clock.forward({ minutes: 10 })
  await line.write(2)
  await without.drain()
  expect(receiver.received).toEqual([])
  expect(await openOf(server, id)).toHaveLength(5)
  expect(await attemptsOf(server, id)).toEqual([])
  expect(complaints()).toHaveLength(before + 1)

  await without.stop(0)
  const worker = newDeliveryWorker(server)
  onTestFinished(() => worker.stop(0))
  await worker.drain()
  expect(receiver.received).toHaveLength(5)
  expect(await openOf(server, id)).toEqual([])
  expect((await attemptsOf(server, id)).map(({ number, trigger }) => [number, trigger])).toEqual(
    Array.from({ length: 5 }, () => [1, 'first']),
  )
})

test('one endpoint whose secret does not open holds up no other, and a new secret sets its deliveries going', async () => {
  const [lost, sound, line] = [await newReceiver(), await newReceiver(), await newLine(server)]
  const { id } = await line.listen(lost)
  const { worker, secretKeys } = workerWithoutKeys()
  const other = await line.listen(sound)
  await rotateWebhook(server.db, secretKeys, other.id)
  await line.write(4)
  await worker.drain()
  expect([sound.received.length, lost.received.length]).toEqual([4, 0])
  await rotateWebhook(server.db, secretKeys, id)
  await worker.drain()
  await worker.drain()
  expect(lost.received).toHaveLength(4)
})
