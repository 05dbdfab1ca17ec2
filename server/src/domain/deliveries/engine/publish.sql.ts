import { byteStrings, texts, uuids } from '../../../db/array-format.ts'
import type { Db } from '../../../db/db.ts'
import type { Lease } from '../../../lib/first-attempts.ts'

export interface EventRow {
  id: string
  workspaceId: string
  type: string
  body: Buffer
  /** The message it tells of. */
  messageId: string | null
}

/** A delivery as it was written. */
export interface Handed {
  eventId: string
  webhookId: string
  leased: boolean
}

/** Where the parts below find what they need of a statement that they are part of. */
interface Told {
  /** Rows of (id, workspace_id, type, body, message_id): the events. */
  events: string
  createdAt: string
  leaseUntil: string
  leaseToken: string
  leaseExcept: string
}

/**
 * Parts of a statement that keep events, and for each a delivery to every endpoint of its workspace that listens to it,
 * leased to this process; `handed` has the deliveries. An endpoint that is disabled gets its delivery too, held until it is
 * enabled.
 */
export const keepingEvents = ({ events, createdAt, leaseUntil, leaseToken, leaseExcept }: Told): string => `
     told as (
       insert into events (id, workspace_id, type, body, message_id, created_at)
       select e.id, e.workspace_id, e.type, e.body, e.message_id, ${createdAt}::timestamptz from ${events} e
     ), handed as (
       insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, due_at, lease)
       select e.id, w.id, e.workspace_id, ${createdAt},
         case when not w.enabled then 'infinity' when w.id = any(${leaseExcept}::uuid[]) then ${createdAt}
           else ${leaseUntil}::timestamptz end,
         case when w.enabled and w.id <> all(${leaseExcept}) then ${leaseToken}::uuid end
       from ${events} e join webhooks w
         on w.workspace_id = e.workspace_id and e.type = any(w.events) and w.deleted_at is null
       returning event_id, webhook_id, lease is not null as leased
     )`

const insertion = `with new as materialized (
       select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[], $8::uuid[])
         as n(id, workspace_id, type, body, message_id)
     ), ${keepingEvents({ events: 'new', createdAt: '$5', leaseUntil: '$6', leaseToken: '$7', leaseExcept: '$9' })}
     select event_id as "eventId", webhook_id as "webhookId", leased from handed`

export const insertEvents = (
  db: Db,
  createdAt: Date,
  events: readonly EventRow[],
  { token, until, except }: Lease,
): Promise<Handed[]> =>
  db.rows(insertion, [
    uuids(events.map((event) => event.id)),
    uuids(events.map((event) => event.workspaceId)),
    texts(events.map((event) => event.type)),
    byteStrings(events.map((event) => event.body)),
    createdAt,
    until,
    token,
    uuids(events.map((event) => event.messageId)),
    uuids(except),
  ])

/** An event for one endpoint alone, as if so many attempts had been made already. */
export const insertTestEvent = (
  db: Db,
  event: {
    id: string
    workspaceId: string
    webhookId: string
    type: string
    body: Buffer
    attempts: number
    now: Date
  },
): Promise<number> =>
  db.change(
    `with event as (
       insert into events (id, workspace_id, type, body, created_at) values ($1, $2, $3, $4, $5)
     )
     insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, attempts, trigger, due_at)
     values ($1, $6, $2, $5, $7, 'manual', $5)`,
    [event.id, event.workspaceId, event.type, event.body, event.now, event.webhookId, event.attempts],
  )
