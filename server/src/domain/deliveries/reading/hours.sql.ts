import type { Db } from '../../../db/db.ts'

export interface HourCounts {
  hour: Date
  webhookId: string
  succeeded: number
  failed: number
  durations: number[]
}

export const hoursSince = (db: Db, workspaceId: string, hour: Date): Promise<HourCounts[]> =>
  db.rows(
    `select hour, webhook_id as "webhookId", succeeded, failed, durations from delivery_hours
     where workspace_id = $1 and hour >= $2`,
    [workspaceId, hour],
  )
