import type { Db } from '../../../db/db.ts'
import { type HourCounts, hoursSince, type OpenCounts, openCounts } from './statistics.sql.ts'

export { countDeliveries, endpointHoursSince, hasDueDeliveries } from './statistics.sql.ts'
export type { HourCounts, OpenCounts }

/** The attempts of a workspace by endpoint and hour, since `since`. */
export const readDeliveryHours = (db: Db, workspaceId: string, since: Date): Promise<HourCounts[]> =>
  hoursSince(db, workspaceId, since)

/** Counts the open deliveries of these endpoints up to `bound`, and reads the time of their last attempt. */
export async function readOpenCounts(
  db: Db,
  workspaceId: string | null,
  webhookIds: readonly string[],
  bound: number,
): Promise<Map<string, OpenCounts>> {
  const counts = webhookIds.length === 0 ? [] : await openCounts(db, workspaceId, webhookIds, bound)
  return new Map(counts.map((each) => [each.webhookId, each]))
}
