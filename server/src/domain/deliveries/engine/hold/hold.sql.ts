import type { Db } from '../../../../db/db.ts'
import { waitingWithoutOrder } from '../order.sql.ts'

export const markEnabled = (db: Db, webhookId: string): Promise<number> =>
  db.change(
    `update webhooks set enabled = true, disabled_reason = null, disabled_at = null, failures = 0, failing_since = null,
       next_attempt_at = null
     where id = $1 and deleted_at is null`,
    [webhookId],
  )

export interface DisabledEndpoint {
  name: string
  url: string
  wasEnabled: boolean
  failingSince: Date | null
}

/** An endpoint that is already disabled keeps its reason. */
export const markDisabled = (db: Db, webhookId: string, reason: string, at: Date) =>
  db.first<DisabledEndpoint>(
    `with endpoint as (select id, enabled from webhooks where id = $1 and deleted_at is null for update)
     update webhooks w set enabled = false, next_attempt_at = null,
       disabled_reason = case when w.enabled then $2 else w.disabled_reason end,
       disabled_at = case when w.enabled then $3 else w.disabled_at end
     from endpoint where w.id = endpoint.id
     returning w.name, w.url, endpoint.enabled as "wasEnabled", w.failing_since as "failingSince"`,
    [webhookId, reason, at],
  )

/** Also removes the values of its headers and a staged secret: a deleted webhook sends and signs nothing. */
export const markDeleted = (db: Db, webhookId: string, at: Date): Promise<number> =>
  db.change(
    `update webhooks set enabled = false, next_attempt_at = null, deleted_at = $2,
       staged_secret_sealed = null, staged_secret_hint = null, headers_sealed = null, header_names = null
     where id = $1 and deleted_at is null`,
    [webhookId, at],
  )

/**
 * Makes up to `limit` planned retries due and, if the endpoint has no order, deliveries that wait for others of their
 * conversation. Call it with the endpoint locked: then none of them was planned after the endpoint was enabled.
 */
export const releaseFirst = (db: Db, webhookId: string, now: Date, limit: number): Promise<number> =>
  db.change(
    `with later as materialized (
       select * from (
         select event_id from deliveries
         where webhook_id = $1 and due_at > $2 and due_at < 'infinity' and lease is null
         order by due_at limit $3 for update skip locked) as planned
       union all
       select * from (${waitingWithoutOrder} limit $3 for update skip locked) as waiting
       limit $3
     )
     update deliveries set due_at = $2, lease = null
     where webhook_id = $1 and event_id = any(array(select event_id from later))`,
    [webhookId, now, limit],
  )

/** Endpoints that are disabled. Their deliveries are not claimed, so they expire without being noticed. */
export const disabledEndpoints = (db: Db): Promise<{ id: string }[]> =>
  db.rows('select id from webhooks where not enabled and deleted_at is null order by id')

/** Deletes deliveries of an endpoint whose events were created before a time, oldest first. */
export const deleteDeliveriesBefore = (
  db: Db,
  webhookId: string,
  { before, firstId, limit }: { before: Date; firstId: string; limit: number },
): Promise<number> =>
  db.change(
    `with expired as materialized (
       select event_id from deliveries where webhook_id = $1 and event_id < $2 and event_created_at < $3
       order by event_id limit $4 for update skip locked
     )
     delete from deliveries where webhook_id = $1 and event_id = any(array(select event_id from expired))`,
    [webhookId, firstId, before, limit],
  )
