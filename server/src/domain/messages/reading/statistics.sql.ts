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

const sums = countedStatuses.map((status) => `coalesce(sum(${status}), 0) as ${status}`).join(', ')

/**
 * Counts messages by their current status in each time bucket. The status is in no index, because each status would then
 * have to change the indexes too: it is counted by hour when it changes.
 */
export const messagesByBucket = (db: Db, workspaceId: string, { starts, hours }: TimeBuckets): Promise<SentRow[]> =>
  fromIndex(db, (tx) =>
    tx.rows(
      `select s.at, queued.queued, counted.*
       from unnest($2::timestamptz[]) as s(at)
       cross join lateral (select s.at + make_interval(hours => $3::int) as until) as b
       cross join lateral (
         select count(*) as queued from messages where workspace_id = $1 and created_at >= s.at and created_at < b.until
           and wa_message_id is null and failed_at is null and status = 'queued'
       ) as queued
       cross join lateral (
         select ${sums} from (
           select * from message_hours where workspace_id = $1 and hour >= s.at and hour < b.until
           union all
           select * from message_hour_changes where workspace_id = $1 and hour >= s.at and hour < b.until
         ) as hours
       ) as counted`,
      [workspaceId, starts, hours],
    ),
  )

const isInBucket = `workspace_id = $1 and recorded_at >= s.at and recorded_at < s.at + make_interval(hours => $3::int)`

/** Counts with the index by time, and subtracts messages that the business wrote elsewhere, which have their own index. */
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

/** Adds at most `limit` changes to the counts. Returns how many. */
export async function addHourChanges(db: Db, limit: number): Promise<number> {
  const row = await db.first<{ count: number }>(
    `with taken as (
       delete from message_hour_changes where ctid = any(array(select ctid from message_hour_changes limit $1))
       returning *
     ), added as (
       insert into message_hours as m (workspace_id, hour, sent, delivered, read, failed)
       select workspace_id, hour, sum(sent), sum(delivered), sum(read), sum(failed) from taken group by 1, 2
       on conflict (workspace_id, hour) do update set sent = m.sent + excluded.sent,
         delivered = m.delivered + excluded.delivered, read = m.read + excluded.read, failed = m.failed + excluded.failed
     )
     select count(*) as count from taken`,
    [limit],
  )
  return row?.count ?? 0
}

export const deleteHoursBefore = (db: Db, before: Date): Promise<number> =>
  db.change('delete from message_hours where hour < $1', [before])
