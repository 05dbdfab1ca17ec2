import type { Db } from '../../../db/db.ts'
import { type HourCounts, hoursSince, type OpenCounts, openCounts } from './statistics.sql.ts'

export { countDeliveries } from './statistics.sql.ts'
export type { HourCounts, OpenCounts }

/** A workspace's attempts by endpoint and hour, since an hour. */
export const readDeliveryHours = (db: Db, workspaceId: string, since: Date): Promise<HourCounts[]> =>
  hoursSince(db, workspaceId, since)

/** What is open for these endpoints, counted up to the bound, and when each had its last attempt. */
export async function readOpenCounts(
  db: Db,
  workspaceId: string | null,
  webhookIds: readonly string[],
  bound: number,
): Promise<Map<string, OpenCounts>> {
  const counts = webhookIds.length === 0 ? [] : await openCounts(db, workspaceId, webhookIds, bound)
  return new Map(counts.map((each) => [each.webhookId, each]))
}
