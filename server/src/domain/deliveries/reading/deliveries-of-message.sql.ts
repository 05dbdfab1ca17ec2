import type { DeliveryState } from '@parley/contract/console/deliveries'
import type { Db } from '../../../db/db.ts'
import { deliveryState, heldSince, lastAttempt, nextAttemptAt } from './delivery-state.sql.ts'

export interface EventOfMessage {
  id: string
  type: string
  createdAt: Date
}

/** The events about a message. `since` is when the message was created: no event is older. */
export const eventsOfMessage = (db: Db, workspaceId: string, messageId: string, since: Date) =>
  db.rows<EventOfMessage>(
    `select id, type, created_at as "createdAt" from events
     where workspace_id = $1 and message_id = $2 and created_at >= $3 order by created_at, id limit 50`,
    [workspaceId, messageId, since],
  )

export const eventById = (
  db: Db,
  workspaceId: string,
  id: string,
): Promise<(EventOfMessage & { senderId: string | null; messageId: string | null }) | undefined> =>
  db.first(
    `select id, type, created_at as "createdAt", sender_id as "senderId", message_id as "messageId" from events
     where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  )

export interface DeliveryOfEvent {
  eventId: string
  webhook_id: string
  webhook_name: string
  url: string
  state: DeliveryState
  attempts: number
  last_attempt_at: Date | null
  last_status: number | null
  last_error: string | null
  next_attempt_at: Date | null
  held_since: Date | null
}

/** All deliveries of these events. A finished delivery has no row of its own; its last attempt represents it. */
export const deliveriesOfEvents = (db: Db, workspaceId: string, events: readonly EventOfMessage[]) =>
  db.rows<DeliveryOfEvent>(
    `select e.id as "eventId", w.id as webhook_id, w.name as webhook_name, w.url,
       ${deliveryState} as state, coalesce(l.made, 0) as attempts, l.at as last_attempt_at, l.status as last_status,
       l.error as last_error, ${nextAttemptAt} as next_attempt_at, ${heldSince} as held_since
     from unnest($2::uuid[], $3::timestamptz[]) as e(id, created_at)
     join webhooks w on w.workspace_id = $1
     left join deliveries d on d.webhook_id = w.id and d.event_id = e.id and w.deleted_at is null
     ${lastAttempt('e.id', 'w.id', 'e.created_at')}
     where d.event_id is not null or l.state is not null
     order by e.created_at, e.id, w.created_at, w.id`,
    [workspaceId, events.map(({ id }) => id), events.map(({ createdAt }) => createdAt)],
  )
