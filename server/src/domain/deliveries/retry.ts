import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { isUuid, newUuid } from '../../lib/ids.ts'
import { refuse } from '../../lib/refuse.ts'
import { requireWebhook } from '../webhooks/webhooks.ts'
import { courierOf } from './couriers.ts'
import { insertRetriesSince, insertRetry, insertTestEvent } from './retry.sql.ts'

/**
 * Delivers an event to an endpoint once more, whatever became of the delivery so far, with a fresh schedule. The first
 * attempt is made even while the endpoint is disabled: a person wants to see whether it works again.
 */
export async function retryDelivery(db: Db, clock: Clock, webhookId: string, eventId: string): Promise<void> {
  const { uuid, workspaceId } = await requireWebhook(db, webhookId)
  const wish = { webhookId: uuid, workspaceId, eventId, now: clock.now() }
  if (!isUuid(eventId) || (await insertRetry(db, wish)) === 0) refuse('not_found')
  courierOf(db)?.wake()
}

/** The same for all that failed for good since a time; says how many there were. */
export async function retryFailedSince(db: Db, clock: Clock, webhookId: string, since: Date): Promise<number> {
  const { uuid, workspaceId } = await requireWebhook(db, webhookId)
  const count = await insertRetriesSince(db, { webhookId: uuid, workspaceId, since, now: clock.now() })
  courierOf(db)?.wake()
  return count
}

/** Sends an event of a type that means nothing, to see whether the endpoint takes it; gives the event's id. */
export async function sendTestEvent(db: Db, clock: Clock, webhookId: string): Promise<string> {
  const { uuid, workspaceId, webhook } = await requireWebhook(db, webhookId)
  const now = clock.now()
  const id = newUuid(now.getTime())
  const type = 'webhook.test'
  const data = { webhook_id: webhook.id, message: 'This is a test event. Receivers ignore types they do not know.' }
  const body = Buffer.from(JSON.stringify({ id, type, created_at: now.toISOString(), data }))
  await insertTestEvent(db, { id, workspaceId, webhookId: uuid, type, body, now })
  courierOf(db)?.wake()
  return id
}
