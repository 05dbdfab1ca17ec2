import { randomUUID } from 'node:crypto'
import { type EventType, eventSchemas } from '@parley/contract/events'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { publishTest } from '../deliveries/engine/publish.ts'
import { requireWebhook } from './webhooks.ts'

/** Sends a test event to one endpoint and returns the event's ID. Without a type it sends `webhook.test`. */
export async function sendTestEvent(
  db: Db,
  clock: Clock,
  id: string,
  type?: EventType,
  within?: string,
): Promise<string> {
  const { uuid: webhookId, workspaceId, webhook } = await requireWebhook(db, id, within)
  const now = clock.now()
  const plain = { webhook_id: webhook.id, message: 'This is a test event. Receivers ignore types they do not know.' }
  const data = type ? sampleOf(type, now) : plain
  return publishTest(db, now, { workspaceId, webhookId, type: type ?? 'webhook.test', data })
}

/** Fields that get a new ID in a test event, with the prefix of the ID. */
const idPrefixes = { message_id: 'msg', source_message_id: 'msg', id: 'frs' } as const

/**
 * Sample data for an event type: the example of its schema with new IDs and the current time, and `test: true`, which
 * receivers can check.
 */
function sampleOf(type: EventType, now: Date): Record<string, unknown> {
  // Every event schema has an example, but the schema's type does not say so.
  const { examples = [] } = eventSchemas[type] as { examples?: readonly { data: object }[] }
  const data: Record<string, unknown> = { ...structuredClone(examples[0]?.data), test: true }
  for (const [field, prefix] of Object.entries(idPrefixes)) {
    if (typeof data[field] === 'string') data[field] = `${prefix}_${randomUUID()}`
  }
  for (const field of ['occurred_at', 'received_at']) {
    if (field in data) data[field] = now.toISOString()
  }
  return data
}
