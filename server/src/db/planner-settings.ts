import type { Db } from './db.ts'

/**
 * Runs queries with some plan types turned off. With row-level security PostgreSQL estimates a hundredth of the real
 * row count, and would then read and sort a whole table instead of reading the first rows, or counting, from an index.
 */
export const withPlannerSettingsOff = <T>(
  plans: readonly PlanType[],
  db: Db,
  run: (tx: Db) => Promise<T>,
): Promise<T> => db.transaction((tx) => turnOff(plans, tx, run))

const turnOff = <T>(plans: readonly PlanType[], tx: Db, run: (tx: Db) => Promise<T>): Promise<T> =>
  withSettings(tx, plansOff, [plans], run)

/** `text` sets them until the end of the transaction, also for later statements in it. */
export async function withSettings<T>(
  tx: Db,
  text: string,
  values: readonly unknown[],
  run: (tx: Db) => Promise<T>,
): Promise<T> {
  // An error that `run` throws before its first query must become a rejected promise.
  const running = async () => run(tx)
  // The queries are pipelined: sent together with the settings, and planned after them.
  const [, result] = await Promise.all([tx.rows(text, values), running()])
  return result
}

/**
 * Makes PostgreSQL look up each row by its key. A statement is planned once, often while its tables are almost empty.
 * The best plan then, to read and join whole tables, is far too slow with a million rows.
 */
export const withIndexLookups = <T>(db: Db, run: (tx: Db) => Promise<T>): Promise<T> =>
  withPlannerSettingsOff(wholeTables, db, run)

/** The same for one statement, in one round trip. */
export const oneWithIndexLookups = <T>(db: Db, run: (tx: Db) => Promise<T>): Promise<T> =>
  db.transactionAtOnce((tx) => turnOff(wholeTables, tx, run))

/**
 * For one statement that finds every row by its key, in one round trip. PostgreSQL scans a bitmap only for a condition. For a
 * plan that it makes while a table is empty, an index scan of all rows is cheaper to it than looking up each.
 */
export const oneWithKeyLookups = <T>(db: Db, run: (tx: Db) => Promise<T>): Promise<T> =>
  db.transactionAtOnce((tx) => turnOff(['seqscan', 'indexscan', ...joins], tx, run))

/** For lookups of the first of several rows: PostgreSQL uses an index that has them in order. */
export const withOrderedLookups = <T>(db: Db, run: (tx: Db) => Promise<T>): Promise<T> =>
  withPlannerSettingsOff([...wholeTables, 'sort'], db, run)

/** The same for one statement, in one round trip. */
export const oneWithOrderedLookups = <T>(db: Db, run: (tx: Db) => Promise<T>): Promise<T> =>
  db.transactionAtOnce((tx) => turnOff([...wholeTables, 'sort'], tx, run))

/**
 * Makes PostgreSQL read the first rows in the order of an index, even of a table with many partitions, and plan the statement
 * once for all values. One statement, in one round trip.
 */
export const oneInIndexOrder = <T>(db: Db, run: (tx: Db) => Promise<T>): Promise<T> =>
  db.transactionAtOnce((outer) =>
    withSettings(outer, genericPlan, [], (tx) => turnOff(['sort', 'seqscan', 'bitmapscan'], tx, run)),
  )

const plansOff = `select set_config('enable_' || plan, 'off', true) from unnest($1::text[]) as plan`
const genericPlan = `select set_config('plan_cache_mode', 'force_generic_plan', true)`

const joins: readonly PlanType[] = ['hashjoin', 'mergejoin', 'material']
const wholeTables: readonly PlanType[] = ['seqscan', 'bitmapscan', ...joins]

type PlanType = 'sort' | 'seqscan' | 'bitmapscan' | 'indexscan' | 'hashjoin' | 'mergejoin' | 'material'
