import type { Db } from './db.ts'

/**
 * Reads with ways of planning turned off. Row-level security makes PostgreSQL expect a hundredth of the rows there are, and
 * then it would rather read and sort all of a table than follow an index to the first few, or count from the index alone.
 */
export const without = <T>(ways: readonly Way[], db: Db, read: (tx: Db) => Promise<T>): Promise<T> =>
  db.transaction(async (tx) => {
    await tx.rows(`select set_config('enable_' || way, 'off', true) from unnest($1::text[]) as way`, [ways])
    return read(tx)
  })

type Way = 'sort' | 'seqscan' | 'bitmapscan' | 'indexscan' | 'hashjoin' | 'mergejoin'
