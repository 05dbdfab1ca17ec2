import type { EventType } from '@parley/contract/events'
import type { Db } from '../../../db/db.ts'

/** Events of all workspaces with an ID from `first` to `last`, from the index of IDs. */
export const eventsBetween = (db: Db, first: string, last: string, limit: number) =>
  db.rows<{ id: string; type: string }>('select id, type from events where id between $1 and $2 order by id limit $3', [
    first,
    last,
    limit,
  ])

/** The event types that have an index by type: see `events_by_rare_type`. */
export type RareType = Exclude<EventType, 'message.sent' | 'message.delivered' | 'message.read' | 'message.received'>

/**
 * When the last event of each type was published, as far as events are stored. The condition is that of the index, so that
 * one entry of it is read for each type.
 */
export const lastEvents = (db: Db, workspaceId: string, types: readonly RareType[]) =>
  db.rows<{ type: RareType; at: Date }>(
    `select t.type, e.created_at as at from unnest($2::text[]) as t(type)
     cross join lateral (
       select e.created_at from events e where e.workspace_id = $1 and e.type = t.type
         and e.type not in ('message.sent', 'message.delivered', 'message.read', 'message.received')
       order by e.created_at desc, e.id desc limit 1) as e`,
    [workspaceId, types],
  )

export interface SenderEvent {
  at: Date
  body: Buffer
}

/** The latest `sender.status_changed` of a sender, newest first. The condition is that of the index by type. */
export const senderEvents = (db: Db, workspaceId: string, senderId: string, limit: number): Promise<SenderEvent[]> =>
  db.rows(
    `select created_at as at, body from events
     where workspace_id = $1 and type = 'sender.status_changed' and sender_id = $2
       and type not in ('message.sent', 'message.delivered', 'message.read', 'message.received')
     order by created_at desc, id desc limit $3`,
    [workspaceId, senderId, limit],
  )
