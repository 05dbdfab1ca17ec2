import type { Db } from '../../db/db.ts'

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
