import type { Db } from '../../db/db.ts'
import { orElse } from '../../db/or-else.ts'
import { oneWithIndexLookups } from '../../db/planner-settings.ts'

const isWaiting = `deliveries.conversation is not null and deliveries.due_at = 'infinity'`

export interface DeliveryKey {
  webhookId: string
  eventId: string
}

/**
 * Starts a new schedule for each of these deliveries that exists, whether it is open or finished. If a delivery waits for
 * another one of its conversation, the other one gets the new schedule, so that the order stays. Finished deliveries are not
 * part of the order.
 */
export const insertRetries = (
  db: Db,
  { workspaceId, deliveries, now }: { workspaceId: string; deliveries: readonly DeliveryKey[]; now: Date },
): Promise<number> =>
  oneWithIndexLookups(db, (tx) =>
    tx.change(
      `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, trigger, due_at)
     select distinct e.id, w.id, e.workspace_id, e.created_at, 'manual', $4::timestamptz
     from unnest($2::uuid[], $3::uuid[]) as n(webhook_id, event_id)
     join webhooks w on w.id = n.webhook_id and w.workspace_id = $1 and w.deleted_at is null
     left join lateral (
       select o.event_id from deliveries d join deliveries o
         on o.webhook_id = d.webhook_id and o.conversation = d.conversation and o.due_at < 'infinity'
       where d.webhook_id = n.webhook_id and d.event_id = n.event_id and d.conversation is not null
         and d.due_at = 'infinity'
       order by o.position, o.event_id limit 1) as before on true
     join events e on e.id = ${orElse('before.event_id', 'n.event_id')} and e.workspace_id = $1
     where exists (select 1 from deliveries d where d.webhook_id = w.id and d.event_id = e.id)
       or exists (select 1 from delivery_attempts a
         where a.event_id = e.id and a.webhook_id = w.id and a.at >= e.created_at)
     order by 2, 1
     on conflict (webhook_id, event_id) do update set attempts = 0, lease = null, added_by_replay = null,
       -- A waiting delivery whose next attempt is about to start keeps its place.
       trigger = case when ${isWaiting} then deliveries.trigger else 'manual' end,
       due_at = case when ${isWaiting} then deliveries.due_at else excluded.due_at end`,
      [workspaceId, deliveries.map((each) => each.webhookId), deliveries.map((each) => each.eventId), now],
    ),
  )
