import { testEventType } from '@parley/contract/events'
import type { Db } from '../../db/db.ts'
import type { Trigger } from '../../lib/first-attempts.ts'

export interface DeliveryKey {
  webhookId: string
  eventId: string
}

/** Starts a new schedule for each of these deliveries that exists, whether it is open or finished. */
export const insertRetries = (
  db: Db,
  { workspaceId, deliveries, now }: { workspaceId: string; deliveries: readonly DeliveryKey[]; now: Date },
): Promise<number> =>
  db.change(
    `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, trigger, due_at)
     select distinct e.id, w.id, e.workspace_id, e.created_at, 'manual', $4::timestamptz
     from unnest($2::uuid[], $3::uuid[]) as n(webhook_id, event_id)
     join webhooks w on w.id = n.webhook_id and w.workspace_id = $1 and w.deleted_at is null
     join events e on e.id = n.event_id and e.workspace_id = $1
     where exists (select 1 from deliveries d where d.webhook_id = w.id and d.event_id = e.id)
       or exists (select 1 from delivery_attempts a
         where a.event_id = e.id and a.webhook_id = w.id and a.at >= e.created_at)
     order by 2, 1
     on conflict (webhook_id, event_id)
       do update set attempts = 0, trigger = 'manual', due_at = excluded.due_at, lease = null`,
    [workspaceId, deliveries.map((each) => each.webhookId), deliveries.map((each) => each.eventId), now],
  )

/** Makes due the retries of deliveries with a failed attempt since a time. Those in progress and held ones stay. */
export const makeRetriesDue = (
  db: Db,
  { webhookId, since, now }: { webhookId: string; since: Date; now: Date },
): Promise<number> =>
  db.change(
    `update deliveries d set due_at = $3
     from (select distinct event_id from delivery_attempts
       where webhook_id = $1 and at >= $2 and state <> 'delivered') as a
     where d.webhook_id = $1 and d.event_id = a.event_id and d.lease is null and d.due_at > $3
       and d.due_at <> 'infinity'`,
    [webhookId, since, now],
  )

/**
 * Starts a new schedule for the deliveries of an endpoint that failed for good since a time and are not open again. Test
 * events are sent only once.
 */
export const insertRetriesSince = (
  db: Db,
  {
    webhookId,
    workspaceId,
    since,
    trigger,
    due,
  }: { webhookId: string; workspaceId: string; since: Date; trigger: Trigger; due: Date | 'infinity' },
): Promise<number> =>
  db.change(
    `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, trigger, due_at)
     select distinct a.event_id, a.webhook_id, a.workspace_id, a.event_created_at, $6, $4::timestamptz
     from delivery_attempts a
     join events e on e.id = a.event_id and e.created_at = a.event_created_at and e.type <> $5
     where a.webhook_id = $1 and a.workspace_id = $2 and a.state = 'failed' and a.at >= $3
       and not exists (select 1 from delivery_attempts l
         where l.event_id = a.event_id and l.webhook_id = a.webhook_id and l.at >= a.at and l.state = 'delivered')
     on conflict (webhook_id, event_id) do nothing`,
    [webhookId, workspaceId, since, due, testEventType, trigger],
  )
