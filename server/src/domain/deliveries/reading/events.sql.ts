import type { EventType } from '@parley/contract/events'
import type { Db } from '../../../db/db.ts'
import { withOrderedLookups } from '../../../db/planner-settings.ts'

/** Most events are of these types. They have no index by type: the newest events are read to find them. */
export const frequentTypes: readonly string[] = [
  'message.sent',
  'message.delivered',
  'message.read',
  'message.received',
]

/** The event `e` is of another type. It must be the condition of the partial index. */
export const isRare = `e.type not in ('message.sent', 'message.delivered', 'message.read', 'message.received')`

export interface TypeCount {
  type: string
  count: number
  lastAt: Date | null
  /** How many events were read for it, including those of other senders. */
  read: number
}

export interface TypeCountQuery {
  workspaceId: string
  /** Only events of these senders, and those without a sender. Null: all. */
  senders: readonly string[] | null
  since: Date
  types: readonly string[]
  limit: number
}

const countColumns = `count(*) filter (where $2::uuid[] is null or e.sender_id is null or e.sender_id = any($2))::int as count,
  max(e.created_at) filter (where $2::uuid[] is null or e.sender_id is null or e.sender_id = any($2)) as "lastAt",
  count(*)::int as read`

/** The newest events of each of these types, at most `limit` of each, by the index of rare types. */
export const countRareTypes = (db: Db, { workspaceId, senders, since, types, limit }: TypeCountQuery) =>
  withOrderedLookups(db, (tx) =>
    tx.rows<TypeCount>(
      `select t.type, ${countColumns} from unnest($4::text[]) as t(type)
       cross join lateral (
         select e.created_at, e.sender_id from events e
         where e.workspace_id = $1 and e.type = t.type and e.created_at >= $3
           and ${isRare}
         order by e.created_at desc, e.id desc limit $5) as e
       group by 1`,
      [workspaceId, senders, since, types, limit],
    ),
  )

/** The newest events of the workspace by type, at most `limit` together, by the index by time. */
export const countNewestTypes = (db: Db, { workspaceId, senders, since, limit }: Omit<TypeCountQuery, 'types'>) =>
  withOrderedLookups(db, (tx) =>
    tx.rows<TypeCount>(
      `select e.type, ${countColumns} from (
         select e.type, e.created_at, e.sender_id from events e where e.workspace_id = $1 and e.created_at >= $3
         order by e.created_at desc, e.id desc limit $4) as e
       group by 1`,
      [workspaceId, senders, since, limit],
    ),
  )

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
         and ${isRare}
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
    `select e.created_at as at, e.body from events e
     where e.workspace_id = $1 and e.type = 'sender.status_changed' and e.sender_id = $2 and ${isRare}
     order by e.created_at desc, e.id desc limit $3`,
    [workspaceId, senderId, limit],
  )
