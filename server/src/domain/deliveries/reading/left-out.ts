/**
 * How many events the filter of an endpoint left out. The statement that publishes events inserts a count; maintenance adds
 * them up by hour.
 */
import type { Db } from '../../../db/db.ts'
import { inBatches } from '../../../db/in-batches.ts'
import { deleteHoursBefore, leftOutSince, sumHours } from './left-out.sql.ts'

/** The console shows the last 24 hours. */
const keptMs = 2 * 86_400_000

/** How many events the filter of each endpoint left out since an hour, by endpoint. */
export async function readLeftOut(
  db: Db,
  workspaceId: string,
  webhookIds: readonly string[],
  since: Date,
): Promise<Map<string, number>> {
  const counts = webhookIds.length === 0 ? [] : await leftOutSince(db, workspaceId, webhookIds, since)
  return new Map(counts.map(({ webhookId, count }) => [webhookId, count]))
}

export const sumLeftOut = (db: Db): Promise<unknown> => inBatches((limit) => sumHours(db, limit))

export const deleteOldLeftOut = (db: Db, now: Date): Promise<number> =>
  deleteHoursBefore(db, new Date(now.getTime() - keptMs))
