import type { Db } from '../../db/db.ts'

/** A fresh schedule for a delivery there is or was, whatever became of it. */
export const insertRetry = (
  db: Db,
  { webhookId, workspaceId, eventId, now }: { webhookId: string; workspaceId: string; eventId: string; now: Date },
): Promise<number> =>
  db.change(
    `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, trigger, due_at)
     select e.id, $1, e.workspace_id, e.created_at, 'manual', $4 from events e
     where e.id = $3 and e.workspace_id = $2
       and (exists (select 1 from deliveries d where d.webhook_id = $1 and d.event_id = e.id)
         or exists (select 1 from delivery_attempts a where a.event_id = e.id and a.webhook_id = $1))
     on conflict (webhook_id, event_id)
       do update set attempts = 0, trigger = 'manual', due_at = excluded.due_at, lease = null`,
    [webhookId, workspaceId, eventId, now],
  )

/** The same for every delivery of an endpoint that failed for good since a time and is not under way again. */
export const insertRetriesSince = (
  db: Db,
  { webhookId, workspaceId, since, now }: { webhookId: string; workspaceId: string; since: Date; now: Date },
): Promise<number> =>
  db.change(
    `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, trigger, due_at)
     select distinct a.event_id, a.webhook_id, a.workspace_id, a.event_created_at, 'manual', $4::timestamptz
     from delivery_attempts a
     where a.webhook_id = $1 and a.workspace_id = $2 and a.state = 'failed' and a.at >= $3
       and not exists (select 1 from delivery_attempts l
         where l.event_id = a.event_id and l.webhook_id = a.webhook_id and l.at >= a.at and l.state = 'delivered')
     on conflict (webhook_id, event_id) do nothing`,
    [webhookId, workspaceId, since, now],
  )

/** An event for one endpoint alone. */
export const insertTestEvent = (
  db: Db,
  event: { id: string; workspaceId: string; webhookId: string; type: string; body: Buffer; now: Date },
): Promise<number> =>
  db.change(
    `with event as (
       insert into events (id, workspace_id, type, body, created_at) values ($1, $2, $3, $4, $5)
     )
     insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, trigger, due_at)
     values ($1, $6, $2, $5, 'manual', $5)`,
    [event.id, event.workspaceId, event.type, event.body, event.now, event.webhookId],
  )
