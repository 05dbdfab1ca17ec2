import type { Db } from '../../../db/db.ts'

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

/** The first hour that is counted. `-infinity` if all are. Locked, because the caller is about to move it. */
export const lockFirstHour = async (db: Db): Promise<Date | number> =>
  (await db.first<{ hour: Date | number }>('select hour from message_hours_from for update'))?.hour ?? -Infinity

/** The hour of the newest message of these workspaces that was created before a time, and not before another. */
export const hourBefore = async (
  db: Db,
  workspaceIds: readonly string[],
  before: Date,
  notBefore: Date,
): Promise<Date | null> =>
  (
    await db.first<{ hour: Date | null }>(
      `select date_trunc('hour', max(m.created_at), 'UTC') as hour from unnest($1::uuid[]) as w(id) cross join lateral (
         select created_at from messages where workspace_id = w.id and created_at < $2 and created_at >= $3
         order by created_at desc limit 1) as m`,
      [workspaceIds, before, notBefore],
    )
  )?.hour ?? null

/**
 * Counts the messages of an hour. What changed since the trigger exists is in the tables already, so only the difference is
 * inserted: one statement sees the messages and their changes at the same moment.
 */
export const insertHour = (db: Db, workspaceIds: readonly string[], hour: Date): Promise<number> =>
  db.change(
    `insert into message_hour_changes (workspace_id, hour, sent, delivered, read, failed)
     select w.id, $2, m.sent - h.sent, m.delivered - h.delivered, m.read - h.read, m.failed - h.failed
     from unnest($1::uuid[]) as w(id)
     cross join lateral (
       select count(*) filter (where status = 'sent') as sent, count(*) filter (where status = 'delivered') as delivered,
         count(*) filter (where status = 'read') as read, count(*) filter (where status = 'failed') as failed
       from messages where workspace_id = w.id and created_at >= $2 and created_at < $2::timestamptz + interval '1 hour'
     ) as m
     cross join lateral (
       select coalesce(sum(sent), 0) as sent, coalesce(sum(delivered), 0) as delivered, coalesce(sum(read), 0) as read,
         coalesce(sum(failed), 0) as failed
       from (
         select * from message_hours where workspace_id = w.id and hour = $2
         union all select * from message_hour_changes where workspace_id = w.id and hour = $2
       ) as all_of_hour
     ) as h
     where (m.sent, m.delivered, m.read, m.failed) <> (h.sent, h.delivered, h.read, h.failed)`,
    [workspaceIds, hour],
  )

export const setFirstHour = (db: Db, hour: Date | number): Promise<number> =>
  db.change('update message_hours_from set hour = $1', [hour instanceof Date ? hour : '-infinity'])
