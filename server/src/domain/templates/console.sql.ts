import type { Db } from '../../db/db.ts'
import { pagedStatement } from '../../db/statement.ts'
import { type TemplateRow, templateColumns } from './templates.sql.ts'

export type ConsoleTemplateRow = TemplateRow & {
  connection_id: string
  network_template_id: string
  rejected_reason: string | null
  status_info: { reason: string | null; recommendation: string | null } | null
  quality: string | null
  account: string
}

const columns = `${templateColumns}, connection_id, network_template_id, rejected_reason, status_info, quality,
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

/** The template of an account with this name and language. */
export const templateNamed = (db: Db, connectionId: string, { name, language }: { name: string; language: string }) =>
  db.first<ConsoleTemplateRow>(
    `select ${columns} from templates
     where connection_id = $1 and name = $2 and language = $3 and removed_at is null`,
    [connectionId, name, language],
  )
