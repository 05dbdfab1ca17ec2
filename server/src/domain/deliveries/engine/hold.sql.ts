import type { Db } from '../../../db/db.ts'
import { planVisitsSql } from './visits.sql.ts'

export const markEnabled = (db: Db, webhookId: string): Promise<number> =>
  db.change(
    `update webhooks set enabled = true, disabled_reason = null, failures = 0, failing_since = null,
       next_attempt_at = null
     where id = $1 and deleted_at is null`,
    [webhookId],
  )

/** An endpoint that is already disabled keeps its reason. */
export const markDisabled = (
  db: Db,
  webhookId: string,
  reason: string,
): Promise<{ name: string; wasEnabled: boolean } | undefined> =>
  db.first(
    `with endpoint as (select id, enabled from webhooks where id = $1 and deleted_at is null for update)
     update webhooks w set enabled = false, next_attempt_at = null,
       disabled_reason = case when w.enabled then $2 else w.disabled_reason end
     from endpoint where w.id = endpoint.id
     returning w.name, endpoint.enabled as "wasEnabled"`,
    [webhookId, reason],
  )

export const markDeleted = (db: Db, webhookId: string, at: Date): Promise<number> =>
  db.change(
    `update webhooks set enabled = false, next_attempt_at = null, deleted_at = $2 where id = $1 and deleted_at is null`,
    [webhookId, at],
  )

/** Leases are kept, so that the result of an attempt in flight still counts. */
export const holdDeliveries = (db: Db, webhookId: string): Promise<number> =>
  db.change(`update deliveries set due_at = 'infinity' where webhook_id = $1`, [webhookId])

export const releaseDeliveries = (db: Db, webhookId: string, now: Date): Promise<number> =>
  db.change(`update deliveries set due_at = $2, lease = null where webhook_id = $1 and due_at = 'infinity'`, [
    webhookId,
    now,
  ])

/** Releases deliveries that were inserted as held while their endpoint was being enabled. */
export const releaseStrandedDeliveries = (db: Db, now: Date): Promise<number> =>
  db.change(
    `with released as (
       update deliveries d set due_at = $1, lease = null from webhooks w
       where w.enabled and w.deleted_at is null and d.webhook_id = w.id and d.due_at = 'infinity'
       returning d.webhook_id, d.workspace_id, d.due_at
     )${planVisitsSql('released')}`,
    [now],
  )

export const dropDeliveries = (db: Db, webhookId: string): Promise<number> =>
  db.change(`delete from deliveries where webhook_id = $1`, [webhookId])

/** Deletes held deliveries whose events are past retention. */
export const deleteDeliveriesBefore = (db: Db, before: Date): Promise<number> =>
  db.change(`delete from deliveries where event_created_at < $1 and due_at = 'infinity'`, [before])
