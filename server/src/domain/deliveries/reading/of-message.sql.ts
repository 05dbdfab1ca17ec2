import type { Db } from '../../../db/db.ts'
import type { DeliveryState } from '../engine/leased-delivery.ts'

export interface EventOfMessage {
  id: string
  type: string
  createdAt: Date
}

/** The events that tell of a message; none is older than it. */
export const eventsOfMessage = (
  db: Db,
  workspaceId: string,
  messageId: string,
  since: Date,
): Promise<EventOfMessage[]> =>
  db.rows(
    `select id, type, created_at as "createdAt" from events
     where workspace_id = $1 and message_id = $2 and created_at >= $3 order by created_at, id limit 50`,
    [workspaceId, messageId, since],
  )

export interface DeliveryOfEvent {
  eventId: string
  webhookId: string
  name: string
  url: string
  state: DeliveryState
  attempts: number
  lastAt: Date | null
  status: number | null
  error: string | null
  dueAt: Date | null
}

/** Every delivery of these events, finished or not: one that is finished is its last attempt. */
export const deliveriesOfEvents = (
  db: Db,
  workspaceId: string,
  events: readonly EventOfMessage[],
): Promise<DeliveryOfEvent[]> =>
  db.rows(
    `select e.id as "eventId", w.id as "webhookId", w.name, w.url,
       case when d.event_id is null then l.state when d.due_at = 'infinity' then 'held'
         when d.attempts > 0 then 'retrying' else 'pending' end as state,
       coalesce(d.attempts, l.number) as attempts, l.at as "lastAt", l.status, l.error,
       nullif(d.due_at, 'infinity') as "dueAt"
     from unnest($2::uuid[], $3::timestamptz[]) as e(id, created_at)
     join webhooks w on w.workspace_id = $1
     left join deliveries d on d.webhook_id = w.id and d.event_id = e.id
     left join lateral (
       select a.state, a.number, a.at, a.status, a.error from delivery_attempts a
       where a.event_id = e.id and a.webhook_id = w.id and a.at >= e.created_at
       order by a.at desc, a.number desc limit 1) as l on true
     where d.event_id is not null or l.state is not null
     order by e.created_at, e.id, w.created_at, w.id`,
    [workspaceId, events.map(({ id }) => id), events.map(({ createdAt }) => createdAt)],
  )
