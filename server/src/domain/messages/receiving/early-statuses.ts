/**
 * Statuses that arrive before their message is known: the network's ID of a message comes with the response to the send
 * request, which may be slower than the status. Most belong to messages that other tools sent, and never match.
 *
 *   stored → the message gets its network ID → applied in that transaction (`saveStatuses`)
 *          → both at the same moment, each in a transaction that does not see the other → applied by the sweep
 *          → older than seven days → deleted
 */
import { databaseNow } from '../../../db/database-clock.ts'
import type { Db } from '../../../db/db.ts'
import { inBatches } from '../../../db/in-batches.ts'
import { withPlannerSettingsOff } from '../../../db/planner-settings.ts'
import type { Clock } from '../../../lib/clock.ts'
import { deleteEarlyBefore, type EarlyKey, newestEarly, nextEarly } from './early-statuses.sql.ts'
import { applyEarly } from './statuses.ts'

/** Rows that a run of the sweep looks at, of each kind. So its cost does not depend on how many are stored. */
const perRun = 1_000
const keptMs = 7 * 24 * 3_600_000
const start: EarlyKey = { senderId: '00000000-0000-0000-0000-000000000000', waMessageId: '', status: '' }

/**
 * Looks at the newest early statuses, where a status that missed its message is found at once, and at the next ones in
 * the order of their key, so that every one is looked at again and again, whatever happened when it was stored.
 */
export function newEarlyStatusSweep(clock: Clock): (db: Db) => Promise<void> {
  let after = start
  return async (db) => {
    const now = await databaseNow(db, clock)
    const expired = new Date(now.getTime() - keptMs)
    await lookedUp(db, async (tx) => {
      const next = await nextEarly(tx, after, perRun)
      const looked = [...(await newestEarly(tx, perRun)), ...next]
      const known = looked.filter(({ isKnown }) => isKnown)
      if (known.length > 0) await applyEarly(tx, now, known)
      after = (next.length === perRun && next.at(-1)) || start
    })
    await inBatches((limit) => lookedUp(db, (tx) => deleteEarlyBefore(tx, expired, limit)))
  }
}

/** Reads by indexes, even if the statements were planned while there were few rows. */
const lookedUp = <T>(db: Db, run: (tx: Db) => Promise<T>): Promise<T> =>
  withPlannerSettingsOff(['sort', 'seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'material'], db, run)
