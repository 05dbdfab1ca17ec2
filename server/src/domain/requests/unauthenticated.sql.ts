import { type BatchId, batchId, newBatchSql } from '../../db/batch-writer.ts'
import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'
import { ensureDay } from './requests.sql.ts'

export interface UnauthenticatedRow {
  minute: Date
  code: string | null
  client: string | null
  count: number
  logged: number
  firstAt: Date
  lastAt: Date
}

/** Adds counts, once per batch. Rows are in order, so that two processes cannot deadlock. */
export async function addUnauthenticated(db: Db, id: BatchId, rows: readonly UnauthenticatedRow[]): Promise<void> {
  const days = new Set(rows.map(({ minute }) => minute.toISOString().slice(0, 10)))
  for (const day of days) await ensureDay(db, 'unauthenticated_minutes', day)
  await counting.change(db, { ...id, rows })
}

const counting = statement(
  {
    ...batchId,
    rows: {
      minute: 'timestamptz',
      code: 'text',
      client: 'text',
      count: 'int',
      logged: 'int',
      firstAt: 'timestamptz',
      lastAt: 'timestamptz',
    },
  },
  ({ rows, ...id }) => `with new_batch as (${newBatchSql(id)}
     )
     insert into unauthenticated_minutes as m (${rows.columns})
     select rows.* from new_batch, ${rows} order by minute, code, client
     on conflict (minute, code, client) do update set
       count = m.count + excluded.count,
       logged = m.logged + excluded.logged,
       first_at = least(m.first_at, excluded.first_at),
       last_at = greatest(m.last_at, excluded.last_at)`,
)
