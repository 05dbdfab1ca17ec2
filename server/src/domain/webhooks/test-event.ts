import { randomUUID } from 'node:crypto'
import { type EventType, eventSchemas } from '@parley/contract/events'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { publishTest } from '../deliveries/engine/publish.ts'
import { requireWebhook } from './webhooks.ts'

/** Sends a test event to one endpoint, and returns the event's id. Without a type it is of a type that means nothing. */
export async function sendTestEvent(
  db: Db,
  clock: Clock,
  id: string,
  type?: EventType,
  within?: string,
): Promise<string> {
  const { uuid: webhookId, workspaceId, webhook } = await requireWebhook(db, id, within)
  const now = clock.now()
  const bare = { webhook_id: webhook.id, message: 'This is a test event. Receivers ignore types they do not know.' }
  const data = type ? sampleOf(type, now) : bare
  return publishTest(db, now, { workspaceId, webhookId, type: type ?? 'webhook.test', data })
}

const ownIds = { message_id: 'msg', source_message_id: 'msg', id: 'frs' } as const

/**
 * What an event of this type carries, as the contract's example has it: true to its schema, with ids and times of its own,
 * and marked as a test, which receivers may look for.
 */
function sampleOf(type: EventType, now: Date): Record<string, unknown> {
  // Every schema of an event has its example, which the type of a schema does not tell.
  const { examples = [] } = eventSchemas[type] as { examples?: readonly { data: object }[] }
  const data: Record<string, unknown> = { ...structuredClone(examples[0]?.data), test: true }
  for (const [field, prefix] of Object.entries(ownIds)) {
    if (typeof data[field] === 'string') data[field] = `${prefix}_${randomUUID()}`
  }
  for (const field of ['occurred_at', 'received_at']) {
    if (field in data) data[field] = now.toISOString()
  }
  return data
}
