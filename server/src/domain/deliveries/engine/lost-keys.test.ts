import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { attemptsOf, newDeliveryWorker, newLine, openOf } from '../../../../testing/deliveries.ts'
import { useReceivers } from '../../../../testing/receiver.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { rotateWebhook } from '../../webhooks/rotation.ts'

const server = useTestServer()
const newReceiver = useReceivers()

/** A worker whose process has other keys than those the secrets were encrypted with. */
function workerWithoutKeys() {
  const secretKeys = new Map([['other', randomBytes(32)]])
  const worker = newDeliveryWorker({ ...server, secretKeys })
  onTestFinished(() => worker.stop(0))
  return { worker, secretKeys }
}

const unreadableErrors = () => server.logged.filter((line) => line.includes('webhook.secret_unreadable'))

test('deliveries to an endpoint whose secret cannot be decrypted wait without attempts until the key is back', async () => {
  const [receiver, line] = [await newReceiver(), await newLine(server)]
  const { id } = await line.listen(receiver)
  const before = unreadableErrors().length
  const { worker: workerWithoutKey } = workerWithoutKeys()
  await line.write(3)
  await workerWithoutKey.drain()
  server.clock.forward({ minutes: 10 })
  await line.write(2)
  await workerWithoutKey.drain()
  expect(receiver.received).toEqual([])
  expect(await openOf(server, id)).toHaveLength(5)
  expect(await attemptsOf(server, id)).toEqual([])
  expect(unreadableErrors()).toHaveLength(before + 1)

  await workerWithoutKey.stop(0)
  const worker = newDeliveryWorker(server)
  onTestFinished(() => worker.stop(0))
  await worker.drain()
  expect(receiver.received).toHaveLength(5)
  expect(await openOf(server, id)).toEqual([])
  expect((await attemptsOf(server, id)).map(({ number, trigger }) => [number, trigger])).toEqual(
    Array.from({ length: 5 }, () => [1, 'first']),
  )
})

test('an endpoint whose secret cannot be decrypted does not delay others, and rotating the secret releases its deliveries', async () => {
  const [unreadable, readable, line] = [await newReceiver(), await newReceiver(), await newLine(server)]
  const { id } = await line.listen(unreadable)
  const { worker, secretKeys } = workerWithoutKeys()
  const other = await line.listen(readable)
  await rotateWebhook(server.db, server.clock, secretKeys, other.id)
  await line.write(4)
  await worker.drain()
  expect([readable.received.length, unreadable.received.length]).toEqual([4, 0])
  await rotateWebhook(server.db, server.clock, secretKeys, id)
  await worker.drain()
  await worker.drain()
  expect(unreadable.received).toHaveLength(4)
})
