/**
 * The order of locks: endpoints by their ID, then deliveries by endpoint and event, then the replay. A transaction that
 * changes several deliveries either skips locked ones, or locks their endpoints first. So two transactions that need
 * the deliveries of an endpoint run one after the other, in whatever order they take the deliveries. Recording, releasing and dropping (`record-attempts.sql.ts`, `claim.sql.ts`) lock the endpoints within
 * their statement. Recording plain successes does not: it takes the deliveries in the order of endpoint and event, as
 * transactions that wait for them do.
 */
import type { Db } from '../../../db/db.ts'

/**
 * Send it together with the statements that follow (`transactionAtOnce`) where no person waits for the result:
 * recordings wait for these locks, and must not wait for a process that is frozen.
 */
export const lockEndpoints = (tx: Db, webhookIds: readonly string[]): Promise<unknown> =>
  tx.rows('select id from webhooks where id = any($1::uuid[]) order by id for update', [webhookIds])
