import type { DeliveryState } from '@parley/contract/console/deliveries'
import type { Db } from '../../../db/db.ts'
import type { AttemptRecord } from '../engine/attempt/record-attempts.sql.ts'
import { deliveryState, heldSince, isHeld, lastAttempt } from './delivery-state.sql.ts'

export interface DetailRow {
  /** Null if the event is past retention. */
  type: string | null
  body: Buffer | null
  createdAt: Date | null
  /** Null if the delivery does not exist. */
  state: DeliveryState | null
  /** Null if the delivery is finished. */
  dueAt: Date | null
  heldSince: Date | null
  attempts: number | null
  leased: boolean
  /** The delivery of the same conversation that is in progress, if this one waits for it. */
  waitsFor: string | null
}

/** The delivery of an event to an endpoint. The event itself may be past retention. */
export const deliveryOf = (db: Db, workspaceId: string, webhookId: string, eventId: string) =>
  db.first<DetailRow>(
    `select e.type, e.body, coalesce(e.created_at, d.event_created_at) as "createdAt", ${deliveryState} as state,
       case when not ${isHeld} then nullif(d.due_at, 'infinity') end as "dueAt", ${heldSince} as "heldSince",
       d.attempts, d.lease is not null as leased,
       (select o.event_id from deliveries o
        where o.webhook_id = d.webhook_id and o.conversation = d.conversation and o.due_at < 'infinity'
          and d.due_at = 'infinity'
        order by o.position, o.event_id limit 1) as "waitsFor"
     from (select $3::uuid as id) as requested
     left join events e on e.id = requested.id and e.workspace_id = $1
     left join webhooks w on w.id = $2 and w.workspace_id = $1
     left join deliveries d on d.webhook_id = $2 and d.event_id = requested.id and d.workspace_id = $1
     ${lastAttempt('requested.id', '$2', `coalesce(e.created_at, d.event_created_at, '-infinity')`)}`,
    [workspaceId, webhookId, eventId],
  )

/** All attempts of a delivery, oldest first. */
export const attemptsOfDelivery = (db: Db, workspaceId: string, webhookId: string, eventId: string) =>
  db.rows<AttemptRecord & { eventCreatedAt: Date }>(
    `select at, event_id as "eventId", number, trigger, state, address, status, error, answer,
       response_headers as "responseHeaders", signatures, duration_us as "durationUs", event_created_at as "eventCreatedAt"
     from delivery_attempts
     where event_id = $3 and webhook_id = $2 and workspace_id = $1
     order by at, number limit 500`,
    [workspaceId, webhookId, eventId],
  )
