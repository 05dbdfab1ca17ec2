import { type MessageStatus, messageStatuses } from '@parley/contract/message'
import type { Db } from '../../../db/db.ts'
import { withPlannerSettingsOff } from '../../../db/planner-settings.ts'
import type { TimeBuckets } from '../../../lib/time-buckets.ts'

/** Makes PostgreSQL use the index by time. */
const fromIndex = <T>(db: Db, read: (tx: Db) => Promise<T>): Promise<T> =>
  withPlannerSettingsOff(['sort', 'seqscan', 'bitmapscan'], db, read)

export interface SentRow extends Record<MessageStatus, number> {
  at: Date
}

/** The statuses that are counted while they are stored. Queued messages are few, and counted when they are asked for. */
const countedStatuses = messageStatuses.filter((status) => status !== 'queued')

const columns = (of: (status: MessageStatus) => string): string =>
  countedStatuses.map((status) => `${of(status)} as ${status}`).join(', ')

/**
 * Counts messages by their current status in each time bucket. The status is in no index, because each status would then
 * have to change the indexes too: it is counted by hour when it changes. Only messages from before that was done are read.
 */
export const messagesByBucket = (db: Db, workspaceId: string, { starts, hours }: TimeBuckets): Promise<SentRow[]> =>
  fromIndex(db, (tx) =>
    tx.rows(
      `select s.at, queued.queued, ${columns((status) => `counted.${status} + earlier.${status}`)}
       from message_hours_from f, unnest($2::timestamptz[]) as s(at)
       cross join lateral (select s.at + make_interval(hours => $3::int) as until) as b
       cross join lateral (
         select count(*) as queued from messages where workspace_id = $1 and created_at >= s.at and created_at < b.until
           and wa_message_id is null and failed_at is null and status = 'queued'
       ) as queued
       cross join lateral (
         select ${columns((status) => `coalesce(sum(${status}), 0)`)} from (
           select * from message_hours
           where workspace_id = $1 and hour >= greatest(s.at, f.hour) and hour < b.until
           union all
           select * from message_hour_changes
           where workspace_id = $1 and hour >= greatest(s.at, f.hour) and hour < b.until
         ) as hours
       ) as counted
       cross join lateral (
         select ${columns((status) => `count(*) filter (where status = '${status}')`)}
         from messages where workspace_id = $1 and created_at >= s.at and created_at < least(b.until, f.hour)
       ) as earlier`,
      [workspaceId, starts, hours],
    ),
  )

const isInBucket = `workspace_id = $1 and recorded_at >= s.at and recorded_at < s.at + make_interval(hours => $3::int)`

/** Counts what the index by time has, less the messages that the business wrote elsewhere: their own index has those. */
export const receivedByBucket = (
  db: Db,
  workspaceId: string,
  { starts, hours }: TimeBuckets,
): Promise<{ at: Date; count: number }[]> =>
  fromIndex(db, (tx) =>
    tx.rows(
      `select s.at, m.count from unnest($2::timestamptz[]) as s(at) cross join lateral (
         select (select count(*) from inbound_messages where ${isInBucket})
           - (select count(*) from inbound_messages where ${isInBucket} and source is not null) as count
       ) as m`,
      [workspaceId, starts, hours],
    ),
  )
