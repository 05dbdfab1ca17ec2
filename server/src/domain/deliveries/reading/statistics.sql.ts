import type { Db } from '../../../db/db.ts'
import { firstIdAt } from '../../../lib/ids.ts'
import type { TimeBuckets } from '../../../lib/time-buckets.ts'
import { isHeld, isManualNow } from './delivery-state.sql.ts'

export interface HourCounts {
  hour: Date
  webhookId: string
  succeeded: number
  failed: number
  durations: number[]
}

const hourColumns = 'hour, webhook_id as "webhookId", succeeded, failed, durations'

/** The attempts of a workspace by endpoint and hour. */
export const readDeliveryHours = (db: Db, workspaceId: string, hour: Date): Promise<HourCounts[]> =>
  db.rows(`select ${hourColumns} from delivery_hours where workspace_id = $1 and hour >= $2`, [workspaceId, hour])

/** The attempts of all workspaces in each time bucket. */
export const attemptsByBucket = (db: Db, { from, to, hours }: TimeBuckets) =>
  db.rows<{ at: Date; succeeded: number; failed: number }>(
    `select date_bin(make_interval(hours => $3::int), hour, $1) as at, sum(succeeded)::bigint as succeeded,
       sum(failed)::bigint as failed
     from delivery_hours where hour >= $1 and hour < $2 group by 1`,
    [from, to, hours],
  )

/** The events of all workspaces between two times. IDs begin with the time, and the index has nothing but them. */
export const countEvents = async (db: Db, from: Date, until: Date): Promise<number> => {
  const sql = 'select count(*) as count from events where id >= $1 and id < $2'
  return (await db.first<{ count: number }>(sql, [firstIdAt(from), firstIdAt(until)]))?.count ?? 0
}

export interface OpenCounts {
  webhookId: string
  lastAttemptAt: Date | null
  /** Of the last attempt, if it failed. */
  failedEventId: string | null
  status: number | null
  error: string | null
  /** Both are counted up to the bound. */
  held: number
  waiting: number
  /** When the next delivery that is not in progress is due. */
  nextDueAt: Date | null
}

/** The endpoints must belong to the workspace, or to any if it is null. */
export const openCounts = (db: Db, workspaceId: string | null, webhookIds: readonly string[], bound: number) =>
  db.rows<OpenCounts>(
    `select w.id as "webhookId", l.at as "lastAttemptAt", case when l.state <> 'delivered' then l.event_id end as "failedEventId",
       l.status, l.error, a.count - m.count as held, o.count + m.count as waiting,
       n.due_at as "nextDueAt"
     from unnest($2::uuid[]) as asked(id)
     join webhooks w on w.id = asked.id
     left join lateral (select a.at, a.event_id, a.state, a.status, a.error from delivery_attempts a
       where a.webhook_id = w.id and ($1::uuid is null or a.workspace_id = $1) order by a.at desc limit 1) as l on true
     cross join lateral (select count(*) from (select 1 from deliveries d
       where not w.enabled and d.webhook_id = w.id and ${isManualNow} limit $3::int) as manual) as m
     cross join lateral (select count(*) from (select 1 from deliveries d
       where not w.enabled and d.webhook_id = w.id limit $3::int + m.count) as open) as a
     cross join lateral (select count(*) from (select 1 from deliveries d
       where w.enabled and d.webhook_id = w.id limit $3::int) as waiting) as o
     left join lateral (select d.due_at from deliveries d
       where w.enabled and d.webhook_id = w.id and d.due_at < 'infinity' and d.lease is null
       order by d.due_at limit 1) as n on true`,
    [workspaceId, webhookIds, bound],
  )

export interface DeliveryCounts {
  /** Open and not held: in flight, due, or due later. */
  waiting: number
  held: number
  overdue: number
  oldestDueAt: Date | null
}

/** Whether a delivery is being attempted, or is due now. */
export const hasDueDeliveries = async (db: Db, now: Date): Promise<boolean> =>
  (await db.first(
    `select 1 from deliveries d join webhooks w on w.id = d.webhook_id and w.deleted_at is null
     where (d.lease is not null or d.due_at <= $1) and not ${isHeld} limit 1`,
    [now],
  )) !== undefined

/**
 * Counts the deliveries of all workspaces. Those of failing endpoints wait for their turn, and first attempts of replays for
 * their pace, so they are not overdue.
 */
export const countDeliveries = (db: Db, now: Date): Promise<DeliveryCounts | undefined> =>
  db.first(
    `select count(*) filter (where not is_held)::int as waiting, count(*) filter (where is_held)::int as held,
       count(*) filter (where is_late)::int as overdue, min(due_at) filter (where is_late) as "oldestDueAt"
     from (
       select d.due_at, ${isHeld} as is_held, d.due_at <= $1 and w.next_attempt_at is null
         and d.trigger <> 'replay' and not ${isHeld} as is_late
       from deliveries d join webhooks w on w.id = d.webhook_id and w.deleted_at is null) as open`,
    [now],
  )
