import type { Db } from '../../db/db.ts'

export interface DayCount {
  keyId: string
  /** Midnight UTC. */
  day: Date
  count: number
}

/** Requests by key and day since a midnight UTC, from the hourly counts, without those with an error code of `without`. */
export const requestsByDay = (
  db: Db,
  workspaceId: string,
  since: Date,
  without: readonly string[],
): Promise<DayCount[]> =>
  db.rows(
    `select key_id as "keyId", date_trunc('day', hour, 'UTC') as day, sum(count)::bigint as count
     from traffic_hours where workspace_id = $1 and hour >= $2 and key_id is not null
       and (code is null or code <> all($3::text[])) group by 1, 2`,
    [workspaceId, since, without],
  )
