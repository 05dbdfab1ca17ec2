import type { Db } from '../../db/db.ts'
import { withPlannerSettingsOff } from '../../db/planner-settings.ts'
import { pagedStatement } from '../../db/statement.ts'
import { type TemplateRow, templateColumns } from './templates.sql.ts'

export type ConsoleTemplateRow = TemplateRow & {
  rejected_reason: string | null
  status_info: { reason: string | null; recommendation: string | null } | null
  quality: string | null
  account: string
}

const columns = `${templateColumns}, rejected_reason, status_info, quality,
  (select c.waba_id from connections c where c.id = connection_id) as account`

export const consoleTemplateList = pagedStatement(
  {
    workspaceId: 'uuid',
    q: 'text',
    statuses: 'text[]',
    categories: 'text[]',
    languages: 'text[]',
    from: 'timestamptz',
    to: 'timestamptz',
  },
  ({ workspaceId, q, statuses, categories, languages, from, to }) => `select ${columns} from templates
     where workspace_id = ${workspaceId} and removed_at is null
       and (${q} is null or position(lower(${q}) in lower(name)) > 0)
       and (${statuses} is null or status = any(${statuses}))
       and (${categories} is null or category = any(${categories}))
       and (${languages} is null or language = any(${languages}))
       and (${from} is null or updated_at >= ${from}) and (${to} is null or updated_at < ${to})`,
)

export const getConsoleTemplate = (db: Db, workspaceId: string, id: string): Promise<ConsoleTemplateRow | undefined> =>
  db.first(`select ${columns} from templates where workspace_id = $1 and id = $2 and removed_at is null`, [
    workspaceId,
    id,
  ])

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
