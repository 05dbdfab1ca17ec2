import type { ListTotal } from '@parley/contract/console/list'
import { totalMax } from '@parley/contract/page'
import type { Db } from './db.ts'
import { withPlannerSettingsOff, withSettings } from './planner-settings.ts'

/** How long counting the rows of a list, or a search, may take. */
export const readLimitMs = 2_000

/**
 * How many rows match, exactly up to `totalMax`. `count` reads at most `atMost` rows, and returns how many there were. If
 * that takes too long, because few of many rows match, there is no total.
 */
export async function boundedTotal(db: Db, count: (tx: Db, atMost: number) => Promise<number>): Promise<ListTotal> {
  const counted = await withTimeLimit(db, readLimitMs, (tx) =>
    // Reading the first rows from an index ends at the limit. The other plans read all of them first.
    withPlannerSettingsOff(['seqscan', 'bitmapscan'], tx, (inOrder) => count(inOrder, totalMax + 1)),
  )
  if (counted === tookTooLong) return { total: null, total_is_exact: false }
  return { total: Math.min(counted, totalMax), total_is_exact: counted <= totalMax }
}

export const tookTooLong = Symbol('a statement took too long')

/** Runs statements that PostgreSQL ends after a time each. Returns `tookTooLong` if it did. */
export async function withTimeLimit<T>(
  db: Db,
  limitMs: number,
  run: (tx: Db) => Promise<T>,
): Promise<T | typeof tookTooLong> {
  try {
    return await db.transaction((tx) =>
      withSettings(tx, `select set_config('statement_timeout', $1, true)`, [String(limitMs)], run),
    )
  } catch (error) {
    if (isTimeout(error)) return tookTooLong
    throw error
  }
}

const isTimeout = (error: unknown): boolean => (error as { code?: string }).code === '57014'

/** The text that counts the rows of a query, at most as many as the parameter says. */
export const countOf = (query: string, atMost: string): string =>
  `select count(*)::int as count from (${query} limit ${atMost}) as counted`
