/**
 * Records batches once. If a connection is lost, the process does not know whether a batch was committed, and repeats it.
 * Where a repetition would count twice, the writer numbers its batches and the statement that records one also moves the
 * number in `batch_writers`. A repetition waits until the first execution has ended. If that committed, it changes nothing.
 * If the commit was lost in a failover, so was the number, and the repetition records the batch.
 */
import { newUuid } from '../lib/ids.ts'
import type { Db } from './db.ts'

/** Identifies a batch. A repetition must have the same content. */
export interface BatchId {
  writer: string
  batch: number
}

/** Numbers the batches of one writer, which has one batch in progress at a time. */
export class BatchWriter {
  readonly #id = newUuid()
  #last = 0

  next(): BatchId {
    return { writer: this.#id, batch: ++this.#last }
  }
}

export const batchId = { writer: 'uuid', batch: 'bigint' } as const

/** For a CTE: returns one row, or none if the batch is recorded already or `condition` does not hold. */
export const newBatchSql = ({ writer, batch }: Readonly<Record<keyof BatchId, string>>, condition = 'true'): string => `
       insert into batch_writers as w (id, last_batch, recorded_at) select ${writer}, ${batch}, now() where ${condition}
       on conflict (id) do update set last_batch = excluded.last_batch, recorded_at = excluded.recorded_at
       where w.last_batch < excluded.last_batch
       returning true as is_new`

/** A process that was cut off from the database for longer than this could record a batch twice. */
const keptDays = 7

/** Deletes the rows of writers that have recorded nothing for a while: their processes are gone, or idle. */
export const deleteOldWriters = (db: Db, now: Date): Promise<number> =>
  db.change(`delete from batch_writers where recorded_at < $1::timestamptz - interval '${keptDays} days'`, [now])
