import type { Db } from '../../db/db.ts'

export interface DayCount {
  keyId: string
  /** Midnight UTC. */
  day: Date
  count: number
}

/** Requests by key and day since a midnight UTC, from the hourly counts. */
export const requestsByDay = (db: Db, workspaceId: string, since: Date): Promise<DayCount[]> =>
  db.rows(
    `select key_id as "keyId", date_trunc('day', hour, 'UTC') as day, sum(count)::bigint as count
     from traffic_hours where workspace_id = $1 and hour >= $2 and key_id is not null group by 1, 2`,
    [workspaceId, since],
  )
