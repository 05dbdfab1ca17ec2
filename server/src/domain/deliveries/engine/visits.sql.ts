/** Visits: when a claim looks at an endpoint. See `claim.sql.ts`. */
import type { Db } from '../../../db/db.ts'
import { statement } from '../../../db/statement.ts'

/**
 * Plans a visit for each endpoint of `rows` (webhook_id, workspace_id, due_at) at its earliest time, unless one is planned by
 * then. A claim that deletes that visit at the same moment does not see these rows yet: it looks again a second later.
 */
export const planVisitsSql = (rows: string): string => `
     insert into endpoint_visits (webhook_id, workspace_id, visit_at)
     select r.webhook_id, r.workspace_id, r.due_at
     from (select webhook_id, workspace_id, min(due_at) as due_at from ${rows} as due where due_at < 'infinity'
       group by webhook_id, workspace_id) as r
     where (select true from endpoint_visits v
       where v.webhook_id = r.webhook_id and v.step = 0 and v.visit_at <= r.due_at limit 1) is null`

const planning = statement(
  { workspaceId: 'uuid', webhookIds: 'uuid[]', at: 'timestamptz' },
  ({ workspaceId, webhookIds, at }) => `with new as materialized (
       select id as webhook_id, workspace_id, ${at}::timestamptz as due_at from webhooks
       where id = any(${webhookIds}) and workspace_id = ${workspaceId}
     )${planVisitsSql('new')}`,
)

export const planVisits = (db: Db, workspaceId: string, webhookIds: readonly string[], at: Date): Promise<number> =>
  planning.change(db, { workspaceId, webhookIds, at })

/** Endpoints with open deliveries are visited at least this often. As long as a lease, so that it is never too late. */
export const visitEveryMs = 30_000

/**
 * Plans visits for endpoints that have open deliveries but no visit in time. That happens if a transaction stays open for
 * longer than claims look again. For deliveries that it added to a deleted endpoint, plans steps. Finds each endpoint by one
 * index lookup.
 */
export const planMissingVisits = (db: Db, now: Date): Promise<number> =>
  db.change(
    `with recursive endpoint(id) as (
       (select webhook_id from deliveries order by webhook_id limit 1)
       union all
       select (select d.webhook_id from deliveries d where d.webhook_id > e.id order by d.webhook_id limit 1)
       from endpoint e where e.id is not null
     )
     , open as materialized (
       select w.id, w.workspace_id, w.enabled, w.disabled_at, w.deleted_at is not null as is_deleted
       from endpoint e join webhooks w on w.id = e.id
     ), new_steps as (
       insert into endpoint_steps (webhook_id, workspace_id, work, asked_at, step_at)
       select o.id, o.workspace_id, 'delete', $1, $1 from open o where o.is_deleted order by o.id
       on conflict do nothing
     )
     insert into endpoint_visits (webhook_id, workspace_id, visit_at)
     select o.id, o.workspace_id, d.due_at
     from open o
     cross join lateral (
       select due_at from (
         select due_at from deliveries
         where o.enabled and webhook_id = o.id and due_at < 'infinity' order by due_at limit 1) as any_of_enabled
       union all
       select due_at from (
         select due_at from deliveries
         where not o.enabled and not o.is_deleted and webhook_id = o.id and trigger = 'manual'
           and due_at >= o.disabled_at and due_at < 'infinity' order by due_at limit 1) as manual
       order by due_at limit 1
     ) as d
     where (select true from endpoint_visits v
       where v.webhook_id = o.id and v.step = 0
         and v.visit_at <= greatest(d.due_at, $1::timestamptz + interval '${visitEveryMs} milliseconds')
       limit 1) is null`,
    [now],
  )
