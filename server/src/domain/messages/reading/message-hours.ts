/**
 * How many messages of an hour have which status, for the overview. A trigger of `messages` inserts what an update changes;
 * maintenance adds that up, so that the overview reads few rows.
 */
import { databaseNow } from '../../../db/database-clock.ts'
import type { Db } from '../../../db/db.ts'
import { inBatches } from '../../../db/in-batches.ts'
import { withIndexLookups } from '../../../db/planner-settings.ts'
import type { Clock } from '../../../lib/clock.ts'
import { listWorkspaces } from '../../workspaces/workspaces.ts'
import {
  addHourChanges,
  deleteHoursBefore,
  hourBefore,
  insertHour,
  lockFirstHour,
  setFirstHour,
} from './message-hours.sql.ts'

/** Longer than the longest period of the overview. */
const keptMs = 32 * 86_400_000

/** Adds up what has changed, and counts the messages from before the trigger existed. */
export async function sumMessageHours(db: Db, clock: Clock): Promise<void> {
  await inBatches((limit) => addHourChanges(db, limit))
  const now = await databaseNow(db, clock)
  while (await countEarlierHour(db, now)) {
    // Each hour is a transaction of its own.
  }
}

/** Counts the latest hour that is not counted yet. Returns false if there is none. */
const countEarlierHour = (db: Db, now: Date): Promise<boolean> =>
  withIndexLookups(db, async (tx) => {
    const first = await lockFirstHour(tx)
    if (!(first instanceof Date)) return false
    const workspaces = (await listWorkspaces(tx)).map(({ id }) => id)
    const hour = await hourBefore(tx, workspaces, first, new Date(now.getTime() - keptMs))
    if (hour !== null) await insertHour(tx, workspaces, hour)
    await setFirstHour(tx, hour ?? Number.NEGATIVE_INFINITY)
    return hour !== null
  })

export const deleteOldMessageHours = (db: Db, now: Date): Promise<number> =>
  deleteHoursBefore(db, new Date(now.getTime() - keptMs))
