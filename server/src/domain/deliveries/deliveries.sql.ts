import type { Db } from '../../db/db.ts'

export interface EventRow {
  id: string
  workspaceId: string
  type: string
  body: Buffer
  /** The message it tells of. */
  messageId: string | null
}

export interface Lease {
  token: string | null
  /** When others may take it up; without a token that is when it is due. */
  until: Date
}

export interface LeasedRow {
  eventId: string
  webhookId: string
  leased: boolean
  /** The routing revision that this was written at. */
  revision: number
}

/**
 * Keeps events, and for each a delivery to every endpoint of its workspace that listens to it, leased to this process. An
 * endpoint that is disabled gets its delivery too, held until it is enabled.
 */
export const insertEvents = (
  db: Db,
  createdAt: Date,
  events: readonly EventRow[],
  { token, until }: Lease,
): Promise<LeasedRow[]> =>
  db.rows(
    `with new as materialized (
       select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[], $8::uuid[])
         as n(id, workspace_id, type, body, message_id)
     ), kept as (
       insert into events (id, workspace_id, type, body, message_id, created_at) select n.*, $5::timestamptz from new n
     )
     insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, due_at, lease)
     select n.id, w.id, n.workspace_id, $5, case when w.enabled then $6::timestamptz else 'infinity' end,
       case when w.enabled then $7::uuid end
     from new n join webhooks w
       on w.workspace_id = n.workspace_id and n.type = any(w.events) and w.deleted_at is null
     returning event_id as "eventId", webhook_id as "webhookId", lease is not null as leased,
       (select value from routing_revision) as revision`,
    [
      events.map((event) => event.id),
      events.map((event) => event.workspaceId),
      events.map((event) => event.type),
      events.map((event) => event.body),
      createdAt,
      until,
      token,
      events.map((event) => event.messageId),
    ],
  )
