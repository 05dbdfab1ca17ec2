/**
 * How many messages of an hour have which status, for the overview. A trigger of `messages` inserts what an update changes;
 * maintenance adds that up, so that the overview reads few rows.
 */
import type { Db } from '../../../db/db.ts'
import { inBatches } from '../../../db/in-batches.ts'
import { addHourChanges, deleteHoursBefore } from './statistics.sql.ts'

/** Longer than the longest period of the overview and the one before it. */
export const keptMs = 62 * 86_400_000

/** Adds up what has changed. */
export const sumMessageHours = (db: Db): Promise<number> => inBatches((limit) => addHourChanges(db, limit))

export const deleteOldMessageHours = (db: Db, now: Date): Promise<number> =>
  deleteHoursBefore(db, new Date(now.getTime() - keptMs))
