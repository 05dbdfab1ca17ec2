import type { Db } from '../../db/db.ts'
import { pagedStatement } from '../../db/statement.ts'
import type { KeySet } from '../../lib/key-set.ts'
import { type TemplateRow, templateColumns } from './templates.sql.ts'

export type ConsoleTemplateRow = TemplateRow & {
  rejected_reason: string | null
  quality: string | null
  account: string
}

export interface TemplateListFilters {
  /** A part of the name. */
  q?: string | undefined
  status?: string | undefined
  category?: string | undefined
  language?: string | undefined
}

const columns = `${templateColumns}, rejected_reason, quality,
  (select c.waba_id from connections c where c.id = connection_id) as account`

const listing = pagedStatement(
  { workspaceId: 'uuid', q: 'text', status: 'text', category: 'text', language: 'text' },
  ({ workspaceId, q, status, category, language }) => `select ${columns} from templates
     where workspace_id = ${workspaceId} and removed_at is null
       and (${q} is null or position(lower(${q}) in lower(name)) > 0)
       and (${status} is null or status = ${status}) and (${category} is null or category = ${category})
       and (${language} is null or language = ${language})`,
)

export const listConsoleTemplates = (
  db: Db,
  workspaceId: string,
  { q, status, category, language }: TemplateListFilters,
  page: KeySet,
): Promise<ConsoleTemplateRow[]> => listing.rows(db, { workspaceId, q, status, category, language }, page)

export const getConsoleTemplate = (db: Db, workspaceId: string, id: string): Promise<ConsoleTemplateRow | undefined> =>
  db.first(`select ${columns} from templates where workspace_id = $1 and id = $2 and removed_at is null`, [
    workspaceId,
    id,
  ])
