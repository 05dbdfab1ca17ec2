import type { TimelineEvent } from '@parley/contract/console/messages'
import type { Db } from '../../../db/db.ts'
import { withPrefix } from '../../../lib/ids.ts'
import { isoTimes } from '../../../lib/iso-times.ts'
import { deliveriesOfEvents, type EventOfMessage, eventById, eventsOfMessage } from './deliveries-of-message.sql.ts'

/** The events about a message, each with the state of its deliveries. */
export async function findEventsOf(
  db: Db,
  workspaceId: string,
  messageId: string,
  since: Date,
): Promise<TimelineEvent[]> {
  return withDeliveries(db, workspaceId, await eventsOfMessage(db, workspaceId, messageId, since))
}

/** One event with the state of its deliveries, the sender and the message that it is about. */
export async function findEventWithDeliveries(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<(TimelineEvent & { senderId: string | null; messageId: string | null }) | undefined> {
  const found = await eventById(db, workspaceId, id)
  if (!found) return undefined
  const [event] = await withDeliveries(db, workspaceId, [found])
  return event && { ...event, senderId: found.senderId, messageId: found.messageId }
}

async function withDeliveries(
  db: Db,
  workspaceId: string,
  events: readonly EventOfMessage[],
): Promise<TimelineEvent[]> {
  const deliveries = events.length === 0 ? [] : await deliveriesOfEvents(db, workspaceId, events)
  const byEvent = Map.groupBy(deliveries, ({ eventId }) => eventId)
  return events.map(({ id, type, createdAt }) => ({
    id,
    type,
    created_at: createdAt.toISOString(),
    deliveries: (byEvent.get(id) ?? []).map(({ eventId: _, ...delivery }) => ({
      ...isoTimes(delivery),
      webhook_id: withPrefix('whk', delivery.webhook_id),
    })),
  }))
}
