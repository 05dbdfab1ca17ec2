/**
 * The state of the installation over time, for the charts of the health page: maintenance takes a sample every few minutes. What
 * other tables count by hour is read from them.
 */
import type { HealthSeries } from '@parley/contract/console/operator'
import type { Period } from '@parley/contract/console/overview'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { freeBytes } from '../../lib/disk.ts'
import { bucketFields, sumByBucket, timeBuckets } from '../../lib/time-buckets.ts'
import { attemptsByBucket, countEvents } from '../deliveries/reading/statistics.ts'
import { readServer } from './health.sql.ts'
import {
  countConnections,
  deleteSamplesBefore,
  insertSample,
  lastSampleAt,
  type Sample,
  samplesByBucket,
} from './samples.sql.ts'
import { readQueues } from './traffic.ts'

const everyMs = 5 * 60_000
/** Longer than the longest period of the charts. */
const keptMs = 32 * 86_400_000
/** A transaction that publishes events ends within this time. */
const settledMs = 60_000
/** After a pause, events of before are not counted. */
const maxGapMs = 3_600_000

/** Takes a sample if the last one is old enough. `dataDir` is the folder of the embedded database; null if there is none. */
export async function sampleHealth(db: Db, now: Date, dataDir: string | null): Promise<void> {
  const last = await lastSampleAt(db)
  if (last && Math.abs(now.getTime() - last.getTime()) < everyMs) return
  const fromMs = last ? Math.max(last.getTime(), now.getTime() - maxGapMs) : now.getTime() - everyMs
  const began = performance.now()
  const connections = await countConnections(db)
  const transactionMs = performance.now() - began
  const { deliveries, outbox } = await readQueues(db, now)
  const free = dataDir === null ? Number.POSITIVE_INFINITY : freeBytes(dataDir)
  await insertSample(db, now, {
    deliveriesWaiting: deliveries.waiting,
    deliveriesOverdue: deliveries.overdue,
    messagesWaiting: outbox.waiting,
    events: await countEvents(db, new Date(fromMs - settledMs), new Date(now.getTime() - settledMs)),
    connections,
    transactionMs,
    databaseBytes: (await readServer(db))?.bytes ?? 0,
    diskFreeBytes: Number.isFinite(free) ? free : null,
  })
}

export const deleteOldSamples = (db: Db, now: Date): Promise<number> =>
  deleteSamplesBefore(db, new Date(now.getTime() - keptMs))

/** One value for each time bucket; null where there is no sample. */
export async function readHealthSeries(db: Db, clock: Clock, period: Period): Promise<HealthSeries> {
  const steps = timeBuckets(period, clock.now())
  const [samples, attempts] = [await samplesByBucket(db, steps), await attemptsByBucket(db, steps)]
  const byStart = new Map(samples.map((sample) => [sample.at.getTime(), sample]))
  const valuesOf = (name: keyof Sample) => steps.starts.map((start) => byStart.get(start.getTime())?.[name] ?? null)
  return {
    period,
    ...bucketFields(steps),
    queues: {
      deliveries_waiting: valuesOf('deliveriesWaiting'),
      deliveries_overdue: valuesOf('deliveriesOverdue'),
      messages_waiting: valuesOf('messagesWaiting'),
    },
    throughput: {
      events: valuesOf('events'),
      succeeded: sumByBucket(steps, attempts, ({ succeeded }) => succeeded),
      failed: sumByBucket(steps, attempts, ({ failed }) => failed),
    },
    database: {
      connections: valuesOf('connections'),
      transaction_ms: valuesOf('transactionMs'),
      bytes: valuesOf('databaseBytes'),
    },
    disk_free_bytes: valuesOf('diskFreeBytes'),
  }
}
