import type { Db } from '../src/db/db.ts'

/**
 * How many rows of a table, of its partitions and of its tables of older rows some work reads. It runs in a transaction, because
 * PostgreSQL counts per connection.
 */
export const rowsRead = (db: Db, table: string, work: (tx: Db) => Promise<unknown>): Promise<number> =>
  db.transaction(async (tx) => {
    const before = await countRead(tx, table)
    await work(tx)
    return (await countRead(tx, table)) - before
  })

async function countRead(tx: Db, table: string): Promise<number> {
  const row = await tx.first<{ rows: number }>(
    `select sum(seq_tup_read + idx_tup_fetch)::bigint as rows from pg_stat_xact_user_tables
     where relname ~ ('^' || $1 || '(_[0-9]{8}|_older_[0-9]+)?$')`,
    [table],
  )
  return row?.rows ?? 0
}
