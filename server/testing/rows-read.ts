import type { Db } from '../src/db/db.ts'

/** How many rows of a table and of its partitions some work reads. It runs in a transaction, because PostgreSQL counts per connection. */
export const rowsRead = (db: Db, table: string, work: (tx: Db) => Promise<unknown>): Promise<number> =>
  db.transaction(async (tx) => {
    const before = await countRead(tx, table)
    await work(tx)
    return (await countRead(tx, table)) - before
  })

async function countRead(tx: Db, table: string): Promise<number> {
  const row = await tx.first<{ rows: number }>(
    `select sum(seq_tup_read + idx_tup_fetch)::bigint as rows from pg_stat_xact_user_tables
     where relname ~ ('^' || $1 || '(_[0-9]{8})?$')`,
    [table],
  )
  return row?.rows ?? 0
}
