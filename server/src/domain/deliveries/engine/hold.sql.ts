import type { Db } from '../../../db/db.ts'

/** Whoever works on one keeps the lease: what comes of the attempt under way still counts. */
export const holdDeliveries = (db: Db, webhookId: string): Promise<number> =>
  db.change(`update deliveries set due_at = 'infinity' where webhook_id = $1`, [webhookId])

export const freeDeliveries = (db: Db, webhookId: string, now: Date): Promise<number> =>
  db.change(`update deliveries set due_at = $2, lease = null where webhook_id = $1 and due_at = 'infinity'`, [
    webhookId,
    now,
  ])

/** Those that were written as held in the very moment their endpoint was enabled. */
export const freeForgotten = (db: Db, now: Date): Promise<number> =>
  db.change(
    `update deliveries d set due_at = $1, lease = null from webhooks w
     where w.enabled and w.deleted_at is null and d.webhook_id = w.id and d.due_at = 'infinity'`,
    [now],
  )

export const dropDeliveries = (db: Db, webhookId: string): Promise<number> =>
  db.change(`delete from deliveries where webhook_id = $1`, [webhookId])

/** Held for so long that their events are no longer kept. */
export const dropPastRetention = (db: Db, before: Date): Promise<number> =>
  db.change(`delete from deliveries where event_created_at < $1 and due_at = 'infinity'`, [before])
