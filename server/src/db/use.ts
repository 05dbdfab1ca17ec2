import type pg from 'pg'
import type { Settings } from './connect/limits.ts'
import type { Borrow } from './connect/pool.ts'
import { lastRow, type ServerClient } from './connect/server-client.ts'

export interface Use {
  borrow: Borrow
  /** Lends a connection for one statement outside of a transaction. */
  single: Borrow
  begin(client: pg.ClientBase): Promise<unknown>
  /** Whether the connections keep their prepared statements. */
  prepares: boolean
}

/** The connections lead to PostgreSQL itself and have their settings. */
export const directly = (borrow: Borrow): Use => ({
  borrow,
  single: borrow,
  begin: (client) => client.query('begin'),
  prepares: true,
})

/**
 * The connections lead to a pooler that may run each transaction on another connection of PostgreSQL. So every statement
 * runs in a transaction, and every transaction applies the settings itself.
 */
export function throughPooler(borrow: Borrow, settings: Settings): Use {
  const applied = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`)
  const text = `begin; select ${applied.join(', ')}, pg_backend_pid() as pid`
  const begin = async (borrowed: pg.ClientBase) => {
    const client = borrowed as ServerClient
    client.pid = 0
    client.pid = lastRow(await client.query(text)).pid
  }
  return {
    borrow,
    single: (work) => borrow((client) => inOneTransaction(client, begin, work)),
    begin,
    prepares: false,
  }
}

/** `begin`, the statement and `commit` are sent together, so they cost one round trip. If one fails, the commit undoes all. */
async function inOneTransaction<T>(
  client: pg.ClientBase,
  begin: Use['begin'],
  work: (client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  const sent = [begin(client), work(client), client.query('commit')] as const
  // The connection is returned when all have ended. The first error is the cause of the others.
  await Promise.allSettled(sent)
  const [, result] = await Promise.all(sent)
  return result
}
