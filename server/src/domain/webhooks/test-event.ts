import { randomUUID } from 'node:crypto'
import type { Attempt } from '@parley/contract/console/deliveries'
import { type EventType, eventSchemas, eventTypes, testEventType } from '@parley/contract/events'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { refuse } from '../../lib/refuse.ts'
import { publishTest } from '../deliveries/engine/publish/publish.ts'
import { getDelivery } from '../deliveries/reading/detail.ts'
import { requireWebhook } from './webhooks.ts'

/**
 * Sends a test event to one endpoint and returns the event's ID. It contains an example of `type`, or else of the first
 * type that the endpoint subscribes to.
 */
export async function sendTestEvent(
  db: Db,
  clock: Clock,
  id: string,
  type?: EventType,
  within?: string,
): Promise<string> {
  const { uuid: webhookId, workspaceId, webhook } = await requireWebhook(db, id, within)
  const now = clock.now()
  const exampleOf = type ?? eventTypes.find((each) => webhook.events.includes(each)) ?? 'message.received'
  const data = { test: true, example_of: exampleOf, example: exampleData(exampleOf, now) }
  return publishTest(db, now, { workspaceId, webhookId, type: testEventType, data })
}

/** The first attempt of a test event; undefined before it. Other events belong to the workspace, and are not found. */
export async function firstAttemptOfTest(
  db: Db,
  clock: Clock,
  id: string,
  event: string,
): Promise<Attempt | undefined> {
  const { workspaceId } = await requireWebhook(db, id)
  const { event_type, tries } = await getDelivery(db, clock, workspaceId, { event, webhook: id })
  return event_type === testEventType ? tries[0] : refuse('not_found')
}

/** Fields that get a new ID in an example, with the prefix of the ID. */
const idPrefixes = { message_id: 'msg', source_message_id: 'msg', id: 'frs' } as const

/** The example of an event type's schema, with new IDs and the current time. */
function exampleData(type: EventType, now: Date): Record<string, unknown> {
  // Every event schema has an example, but the schema's type does not say so.
  const { examples = [] } = eventSchemas[type] as { examples?: readonly { data: object }[] }
  const data: Record<string, unknown> = { ...structuredClone(examples[0]?.data) }
  for (const [field, prefix] of Object.entries(idPrefixes)) {
    if (typeof data[field] === 'string') data[field] = `${prefix}_${randomUUID()}`
  }
  for (const field of ['occurred_at', 'received_at']) {
    if (field in data) data[field] = now.toISOString()
  }
  return data
}
