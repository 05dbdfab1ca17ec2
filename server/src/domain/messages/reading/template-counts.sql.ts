import type { Db } from '../../../db/db.ts'
import { withPlannerSettingsOff } from '../../../db/planner-settings.ts'

/** What became of the newest messages of each template. The index by template has them in order. */
export const countByTemplate = (db: Db, workspaceId: string, ids: readonly string[], since: Date, atMost: number) =>
  withPlannerSettingsOff(['sort', 'seqscan', 'bitmapscan'], db, (tx) =>
    tx.rows<{ id: string; sent: number; delivered: number; read: number; failed: number }>(
      `select t.id, m.* from unnest($2::uuid[]) as t(id) cross join lateral (
         select count(*) as sent, count(*) filter (where status in ('delivered', 'read')) as delivered,
           count(*) filter (where status = 'read') as read, count(*) filter (where status = 'failed') as failed
         from (select status from messages where workspace_id = $1 and template_id = t.id and created_at >= $3
           order by created_at desc, id desc limit $4) as newest
       ) as m`,
      [workspaceId, ids, since, atMost],
    ),
  )
