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
