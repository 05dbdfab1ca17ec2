import type { Db } from '../../../db/db.ts'

/** How many events the filters of the endpoints of a workspace left out since an hour. */
export const leftOutSince = (db: Db, workspaceId: string, webhookIds: readonly string[], hour: Date) =>
  db.rows<{ webhookId: string; count: number }>(
    `select webhook_id as "webhookId", sum(count)::int as count from left_out_events
     where workspace_id = $1 and webhook_id = any($2::uuid[]) and hour >= $3 group by 1`,
    [workspaceId, webhookIds, hour],
  )

/** Replaces the counts of at most `limit` hours of endpoints by their sums. Returns how many. */
export async function sumHours(db: Db, limit: number): Promise<number> {
  const row = await db.first<{ count: number }>(
    `with hours as materialized (
       select distinct webhook_id, hour from left_out_events where not is_sum limit $1
     ), taken as (
       delete from left_out_events l using hours h where l.webhook_id = h.webhook_id and l.hour = h.hour returning l.*
     ), summed as (
       insert into left_out_events (workspace_id, webhook_id, hour, count, is_sum)
       select workspace_id, webhook_id, hour, sum(count), true from taken group by 1, 2, 3
     )
     select count(*)::int as count from hours`,
    [limit],
  )
  return row?.count ?? 0
}

export const deleteHoursBefore = (db: Db, before: Date): Promise<number> =>
  db.change('delete from left_out_events where hour < $1', [before])
