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
  statuses?: readonly string[] | undefined
  categories?: readonly string[] | undefined
  languages?: readonly string[] | undefined
  /** When it was last changed. */
  from?: Date | undefined
  to?: Date | undefined
}

const columns = `${templateColumns}, rejected_reason, quality,
  (select c.waba_id from connections c where c.id = connection_id) as account`

const listing = pagedStatement(
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

export const listConsoleTemplates = (
  db: Db,
  workspaceId: string,
  filters: TemplateListFilters,
  page: KeySet,
): Promise<ConsoleTemplateRow[]> => listing.rows(db, valuesOf(workspaceId, filters), page)

export const countConsoleTemplates = (
  db: Db,
  workspaceId: string,
  filters: TemplateListFilters,
  atMost: number,
): Promise<number> => listing.count(db, valuesOf(workspaceId, filters), atMost)

const valuesOf = (workspaceId: string, filters: TemplateListFilters) => {
  const { q, statuses, categories, languages, from, to } = filters
  return { workspaceId, q, statuses, categories, languages, from, to }
}

export const getConsoleTemplate = (db: Db, workspaceId: string, id: string): Promise<ConsoleTemplateRow | undefined> =>
  db.first(`select ${columns} from templates where workspace_id = $1 and id = $2 and removed_at is null`, [
    workspaceId,
    id,
  ])
