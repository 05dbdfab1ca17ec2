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

export interface OpenCounts {
  webhookId: string
  lastAttemptAt: Date | null
  /** Counted up to the bound. */
  held: number
  waiting: number
}

export const openCounts = (
  db: Db,
  workspaceId: string,
  webhookIds: readonly string[],
  bound: number,
): Promise<OpenCounts[]> =>
  db.rows(
    `select w.id as "webhookId", l.at as "lastAttemptAt", h.count as held, o.count as waiting
     from unnest($2::uuid[]) as w(id)
     left join lateral (select a.at from delivery_attempts a
       where a.webhook_id = w.id and a.workspace_id = $1 order by a.at desc limit 1) as l on true
     cross join lateral (select count(*) from (select 1 from deliveries d
       where d.webhook_id = w.id and d.due_at = 'infinity' limit $3::int) as held) as h
     cross join lateral (select count(*) from (select 1 from deliveries d
       where d.webhook_id = w.id and d.due_at < 'infinity' limit $3::int) as waiting) as o`,
    [workspaceId, webhookIds, bound],
  )
