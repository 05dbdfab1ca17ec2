import type { Db } from './db.ts'

/**
 * Asks with ways of planning turned off. Row-level security makes PostgreSQL expect a hundredth of the rows there are, and
 * then it would rather read and sort all of a table than follow an index to the first few, or count from the index alone.
 */
export const withPlannerSettingsOff = <T>(ways: readonly Way[], db: Db, ask: (tx: Db) => Promise<T>): Promise<T> =>
  db.transaction(async (tx) => {
    // One that fails before it has asked anything must fail as a promise too.
    const asking = async (inside: Db) => ask(inside)
    const turnOff = `select set_config('enable_' || way, 'off', true) from unnest($1::text[]) as way`
    // What is asked travels along, and is planned after this was heard.
    const [, response] = await Promise.all([tx.rows(turnOff, [ways]), asking(tx)])
    return response
  })

/**
 * Looks up each row by its key. A statement is planned once, often while its tables are next to empty, and what is best then
 * (to read the whole table and join it) is a disaster by the time there are a million rows.
 */
export const withIndexLookups = <T>(db: Db, ask: (tx: Db) => Promise<T>): Promise<T> =>
  withPlannerSettingsOff(['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'material'], db, ask)

type Way = 'sort' | 'seqscan' | 'bitmapscan' | 'indexscan' | 'hashjoin' | 'mergejoin' | 'material'
