import type { Db } from './db.ts'

/**
 * Runs queries with some plan types turned off. With row-level security PostgreSQL estimates a hundredth of the real
 * row count, and would then read and sort a whole table instead of reading the first rows, or counting, from an index.
 */
export const withPlannerSettingsOff = <T>(
  plans: readonly PlanType[],
  db: Db,
  run: (tx: Db) => Promise<T>,
): Promise<T> =>
  db.transaction(async (tx) => {
    // An error that `run` throws before its first query must become a rejected promise.
    const running = async (inside: Db) => run(inside)
    const turnOff = `select set_config('enable_' || plan, 'off', true) from unnest($1::text[]) as plan`
    // The queries are pipelined: sent together with the settings, and planned after them.
    const [, result] = await Promise.all([tx.rows(turnOff, [plans]), running(tx)])
    return result
  })

/**
 * Makes PostgreSQL look up each row by its key. A statement is planned once, often while its tables are almost empty.
 * The best plan then, to read and join whole tables, is far too slow with a million rows.
 */
export const withIndexLookups = <T>(db: Db, run: (tx: Db) => Promise<T>): Promise<T> =>
  withPlannerSettingsOff(['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'material'], db, run)

type PlanType = 'sort' | 'seqscan' | 'bitmapscan' | 'indexscan' | 'hashjoin' | 'mergejoin' | 'material'
