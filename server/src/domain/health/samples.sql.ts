import type { Db } from '../../db/db.ts'
import type { TimeBuckets } from '../../lib/time-buckets.ts'

export interface Sample {
  deliveriesWaiting: number
  deliveriesOverdue: number
  messagesWaiting: number
  /** Published since the sample before. */
  events: number
  connections: number
  transactionMs: number
  databaseBytes: number
  /** Null: unknown. */
  diskFreeBytes: number | null
}

export const lastSampleAt = async (db: Db): Promise<Date | null> =>
  (await db.first<{ at: Date | null }>('select max(at) as at from health_samples'))?.at ?? null

/** All connections to our database, by any program. */
export const countConnections = async (db: Db): Promise<number> => {
  const sql = 'select numbackends as count from pg_stat_database where datname = current_database()'
  return (await db.first<{ count: number }>(sql))?.count ?? 0
}

export const insertSample = (db: Db, at: Date, sample: Sample): Promise<number> =>
  db.change(
    `insert into health_samples (at, deliveries_waiting, deliveries_overdue, messages_waiting, events, connections,
       transaction_ms, database_bytes, disk_free_bytes)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
    [
      at,
      sample.deliveriesWaiting,
      sample.deliveriesOverdue,
      sample.messagesWaiting,
      sample.events,
      sample.connections,
      sample.transactionMs,
      sample.databaseBytes,
      sample.diskFreeBytes,
    ],
  )

/** The worst sample of each time bucket, and the sum of the events. Buckets without samples are left out. */
export const samplesByBucket = (db: Db, { from, to, hours }: TimeBuckets): Promise<(Sample & { at: Date })[]> =>
  db.rows(
    `select date_bin(make_interval(hours => $3::int), at, $1) as at, max(deliveries_waiting) as "deliveriesWaiting",
       max(deliveries_overdue) as "deliveriesOverdue", max(messages_waiting) as "messagesWaiting",
       sum(events)::bigint as events, max(connections) as connections, max(transaction_ms) as "transactionMs",
       max(database_bytes) as "databaseBytes", min(disk_free_bytes) as "diskFreeBytes"
     from health_samples where at >= $1 and at < $2 group by 1`,
    [from, to, hours],
  )

export const deleteSamplesBefore = (db: Db, before: Date): Promise<number> =>
  db.change('delete from health_samples where at < $1', [before])
