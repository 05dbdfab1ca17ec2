import type { Db } from '../../../db/db.ts'
import { type HourCounts, hoursSince, type OpenCounts, openCounts } from './statistics.sql.ts'

export type { HourCounts, OpenCounts }

/** A workspace's attempts by endpoint and hour, since an hour. */
export const readDeliveryHours = (db: Db, workspaceId: string, since: Date): Promise<HourCounts[]> =>
  hoursSince(db, workspaceId, since)

/** What is open for these endpoints, counted up to the bound, and when each had its last attempt. */
export const readOpenCounts = (
  db: Db,
  workspaceId: string,
  webhookIds: readonly string[],
  bound: number,
): Promise<OpenCounts[]> => openCounts(db, workspaceId, webhookIds, bound)
