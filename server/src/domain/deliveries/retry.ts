import type { EventType } from '@parley/contract/events'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { isUuid, newUuid, withoutPrefix } from '../../lib/ids.ts'
import { refuse } from '../../lib/refuse.ts'
import { requireWebhook } from '../webhooks/webhooks.ts'
import { wakeWorker } from './engine/first-attempts.ts'
import { sampleOf } from '../webhooks/test-event.ts'
import { attemptsMax } from './engine/retry-policy.ts'
import { insertRetries, insertRetriesSince, insertTestEvent } from './retry.sql.ts'

/**
 * Delivers an event to an endpoint once more, whatever became of the delivery so far, with a fresh schedule. The first
 * attempt is made even while the endpoint is disabled: a person wants to see whether it works again.
 */
export async function retryDelivery(
  db: Db,
  clock: Clock,
  webhookId: string,
  eventId: string,
  within?: string,
): Promise<void> {
  const { uuid, workspaceId } = await requireWebhook(db, webhookId, within)
  if (!isUuid(eventId)) refuse('not_found')
  const wish = { workspaceId, deliveries: [{ webhookId: uuid, eventId }], now: clock.now() }
  if ((await insertRetries(db, wish)) === 0) refuse('not_found')
  wakeFor(db, workspaceId)
}

/** The same for several, of several endpoints; says how many there were. What is not this workspace's is not there. */
export async function retryDeliveries(
  db: Db,
  clock: Clock,
  workspaceId: string,
  named: readonly { webhookId: string; eventId: string }[],
): Promise<number> {
  const deliveries = named.flatMap(({ webhookId, eventId }) => {
    const uuid = withoutPrefix('whk', webhookId)
    return uuid === undefined || !isUuid(eventId) ? [] : [{ webhookId: uuid, eventId }]
  })
  const count = await insertRetries(db, { workspaceId, deliveries, now: clock.now() })
  wakeFor(db, workspaceId)
  return count
}

/** The same for all that failed for good since a time; says how many there were. */
export async function retryFailedSince(
  db: Db,
  clock: Clock,
  webhookId: string,
  since: Date,
  within?: string,
): Promise<number> {
  const { uuid, workspaceId } = await requireWebhook(db, webhookId, within)
  const count = await insertRetriesSince(db, { webhookId: uuid, workspaceId, since, now: clock.now() })
  wakeFor(db, workspaceId)
  return count
}

/**
 * Sends an event to one endpoint alone, to see whether it takes it; gives the event's id. It is tried once, even while the
 * endpoint is disabled: nobody waits nine hours for a test. Without a type it is of one that means nothing.
 */
export async function sendTestEvent(
  db: Db,
  clock: Clock,
  webhookId: string,
  type?: EventType,
  within?: string,
): Promise<string> {
  const { uuid, workspaceId, webhook } = await requireWebhook(db, webhookId, within)
  const now = clock.now()
  const id = newUuid(now.getTime())
  const sample = type
    ? { type, data: sampleOf(type, now) }
    : {
        type: 'webhook.test',
        data: { webhook_id: webhook.id, message: 'This is a test event. Receivers ignore types they do not know.' },
      }
  const body = Buffer.from(JSON.stringify({ id, type: sample.type, created_at: now.toISOString(), data: sample.data }))
  const attempts = attemptsMax - 1
  await insertTestEvent(db, { id, workspaceId, webhookId: uuid, type: sample.type, body, attempts, now })
  wakeFor(db, workspaceId)
  return id
}

function wakeFor(db: Db, workspaceId: string): void {
  db.tell(workspaceId, 'deliveries')
  wakeWorker(db, workspaceId)
}
