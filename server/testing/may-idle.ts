import type { Db } from '../src/db/db.ts'

/** Lets a test hold the locks of a transaction for longer than PostgreSQL allows the service. */
export const mayIdle = (tx: Db): Promise<unknown> => tx.rows('set local idle_in_transaction_session_timeout = 0')
