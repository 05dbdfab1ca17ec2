import type { Db } from '../../db/db.ts'

export interface EventRow {
  id: string
  workspaceId: string
  type: string
  body: Buffer
  createdAt: Date
}

/**
 * Keeps events, and for each a delivery to every endpoint of its workspace that listens to it. An endpoint that is
 * disabled gets its delivery too, held until it is enabled.
 */
export const insertEvents = (db: Db, events: readonly EventRow[]): Promise<number> =>
  db.change(
    `with new as materialized (
       select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[], $5::timestamptz[])
         as n(id, workspace_id, type, body, created_at)
     ), kept as (
       insert into events (id, workspace_id, type, body, created_at) select * from new
     )
     insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, due_at)
     select n.id, w.id, n.workspace_id, n.created_at, case when w.enabled then n.created_at else 'infinity' end
     from new n join webhooks w on w.workspace_id = n.workspace_id and n.type = any(w.events)`,
    [
      events.map((event) => event.id),
      events.map((event) => event.workspaceId),
      events.map((event) => event.type),
      events.map((event) => event.body),
      events.map((event) => event.createdAt),
    ],
  )
