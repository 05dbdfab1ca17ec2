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
