import type { Db } from '../../../db/db.ts'

export interface EndpointRow {
  id: string
  name: string
  url: string
  secretHint: string
  events: string[]
  enabled: boolean
  disabledReason: string | null
  lastSuccessAt: Date | null
  failures: number
  failingSince: Date | null
  createdAt: Date
  lastAttemptAt: Date | null
  /** Counted up to the bound. */
  held: number
  waiting: number
}

/** A workspace's endpoints, or one of them, with what is open for each: never counted further than `bound`. */
export const endpointRows = (
  db: Db,
  { workspaceId, webhookId, bound }: { workspaceId: string; webhookId: string | null; bound: number },
): Promise<EndpointRow[]> =>
  db.rows(
    `select w.id, w.name, w.url, w.secret_hint as "secretHint", w.events, w.enabled,
       w.disabled_reason as "disabledReason", w.last_success_at as "lastSuccessAt", w.failures,
       w.failing_since as "failingSince", w.created_at as "createdAt", l.at as "lastAttemptAt", h.count as held,
       o.count as waiting
     from webhooks w
     left join lateral (select a.at from delivery_attempts a
       where a.webhook_id = w.id and a.workspace_id = $1 order by a.at desc limit 1) as l on true
     cross join lateral (select count(*) from (select 1 from deliveries d
       where d.webhook_id = w.id and d.due_at = 'infinity' limit $3::int) as held) as h
     cross join lateral (select count(*) from (select 1 from deliveries d
       where d.webhook_id = w.id and d.due_at < 'infinity' limit $3::int) as waiting) as o
     where w.workspace_id = $1 and w.deleted_at is null and ($2::uuid is null or w.id = $2)
     order by w.created_at desc, w.id desc`,
    [workspaceId, webhookId, bound],
  )

export interface HourRow {
  webhookId: string
  succeeded: number
  failed: number
  durations: number[]
}

/** How the attempts of each endpoint went, hour by hour. */
export const hoursSince = (db: Db, workspaceId: string, since: Date): Promise<HourRow[]> =>
  db.rows(
    `select webhook_id as "webhookId", succeeded, failed, durations from delivery_hours
     where workspace_id = $1 and hour >= $2`,
    [workspaceId, since],
  )
