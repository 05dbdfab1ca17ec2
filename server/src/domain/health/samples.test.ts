import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { newLine, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { useReceivers } from '../../../testing/receiver.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { deleteOldSamples, sampleHealth } from './samples.ts'

const server = useTestServer()
useDeliveryWorker(server)
const newReceiver = useReceivers()

const sample = (dataDir: string | null = null) => sampleHealth(server.db, server.clock.now(), dataDir)
const count = async () => (await server.db.rows('select 1 from health_samples')).length
const series = async (period = '24h') => {
  const operator = await signedIn(server, { operator: true })
  return (await operator.call(`/operator/health/series?period=${period}`)).body
}
const sum = (counts: number[]) => counts.reduce((all, each) => all + each, 0)

test('a sample is taken at most every five minutes, and deleted after the longest period of the charts', async () => {
  await sample()
  server.clock.forward({ minutes: 4 })
  await sample()
  expect(await count()).toBe(1)
  server.clock.forward({ minutes: 1 })
  await sample()
  expect(await count()).toBe(2)
  const inDays = (days: number) => new Date(server.clock.now().getTime() + days * 86_400_000)
  await deleteOldSamples(server.db, inDays(31))
  expect(await count()).toBe(2)
  await deleteOldSamples(server.db, inDays(33))
  expect(await count()).toBe(0)
})

test('the series have the worst sample of each step, the events of all workspaces and their attempts', async () => {
  const lines = [await newLine(server), await newLine(server)]
  const receiver = await newReceiver()
  for (const line of lines) await line.listen(receiver)
  receiver.next(500)
  for (const line of lines) await line.write(3)
  await until('all are delivered', () => receiver.received.length === 7)
  const attempts = async () => {
    const { throughput } = await series()
    return [sum(throughput.succeeded), sum(throughput.failed)]
  }
  await until('the attempts are counted', async () => (await attempts())[0] === 6)
  expect(await attempts()).toEqual([6, 1])

  server.clock.forward({ minutes: 2 })
  await sample(process.cwd())
  const body = await series()
  expect(body.steps).toHaveLength(24)
  expect(sum(body.throughput.events)).toBe(6)
  expect(body.queues.deliveries_waiting.at(-1)).toBe(0)
  expect(body.database.connections.at(-1)).toBeGreaterThan(0)
  expect(body.database.bytes.at(-1)).toBeGreaterThan(1_000_000)
  expect(body.database.transaction_ms.at(-1)).toBeGreaterThan(0)
  expect(body.disk_free_bytes.at(-1)).toBeGreaterThan(1_000_000)
  // An hour without a sample is a gap, not zero.
  expect(body.queues.messages_waiting[0]).toBeNull()

  await server.db.change(
    `insert into health_samples select at - interval '1 second', 70, 8, 9, 5, connections, 900, database_bytes, 1000
     from health_samples`,
  )
  const worse = await series()
  expect(worse.queues).toMatchObject({ deliveries_waiting: expect.arrayContaining([70]) })
  expect(Math.max(...worse.database.transaction_ms)).toBe(900)
  expect(sum(worse.throughput.events)).toBe(11)
  expect(worse.disk_free_bytes.filter((bytes: number | null) => bytes !== null)).toContain(1000)
  expect((await series('30d')).steps).toHaveLength(30)
})

test('without the disk of the database, its free space is unknown', async () => {
  server.clock.forward({ hours: 1 })
  await sample(null)
  expect((await series()).disk_free_bytes.at(-1)).toBeNull()
})

test('events are counted once, even if a sample is late', async () => {
  server.clock.forward({ hours: 30 })
  await sample()
  const line = await newLine(server)
  await line.listen(await newReceiver())
  await line.write(2)
  server.clock.forward({ minutes: 20 })
  await sample()
  await line.write(1)
  server.clock.forward({ minutes: 6 })
  await sample()
  server.clock.forward({ minutes: 6 })
  await sample()
  expect(sum((await series()).throughput.events)).toBe(3)
})
