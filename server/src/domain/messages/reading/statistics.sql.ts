import { type MessageStatus, messageStatuses } from '@parley/contract/message'
import type { Db } from '../../../db/db.ts'
import { withPlannerSettingsOff } from '../../../db/planner-settings.ts'
import type { TimeBuckets } from '../../../lib/time-buckets.ts'

/** Makes PostgreSQL use an index-only scan. */
const fromIndex = <T>(db: Db, read: (tx: Db) => Promise<T>): Promise<T> =>
  withPlannerSettingsOff(['sort', 'seqscan', 'bitmapscan'], db, read)

export interface SentRow extends Record<MessageStatus, number> {
  at: Date
}

/**
 * Counts messages by their current status in each time bucket. The index has the status and the time, and each bucket is one
 * range of it, so the messages themselves are not read.
 */
export const messagesByBucket = (db: Db, workspaceId: string, { starts, hours }: TimeBuckets): Promise<SentRow[]> =>
  fromIndex(db, (tx) =>
    tx.rows(
      `select s.at, m.* from unnest($2::timestamptz[]) as s(at) cross join lateral (
         select ${messageStatuses.map((status) => `count(*) filter (where status = '${status}') as ${status}`).join(', ')}
         from messages where workspace_id = $1 and created_at >= s.at and created_at < s.at + make_interval(hours => $3::int)
       ) as m`,
      [workspaceId, starts, hours],
    ),
  )

export const receivedByBucket = (
  db: Db,
  workspaceId: string,
  { starts, hours }: TimeBuckets,
): Promise<{ at: Date; count: number }[]> =>
  fromIndex(db, (tx) =>
    tx.rows(
      `select s.at, m.count from unnest($2::timestamptz[]) as s(at) cross join lateral (
         select count(*) from inbound_messages
         where workspace_id = $1 and recorded_at >= s.at and recorded_at < s.at + make_interval(hours => $3::int)
       ) as m`,
      [workspaceId, starts, hours],
    ),
  )
