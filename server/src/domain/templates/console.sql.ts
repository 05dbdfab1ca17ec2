import type { Db } from '../../db/db.ts'
import { type KeySet, keySetClause, keySetValues } from '../../lib/key-set.ts'
import type { TemplateRow } from './templates.sql.ts'

export type ShownTemplate = TemplateRow & {
  rejected_reason: string | null
  quality: string | null
  account: string
}

export interface ShownFilters {
  /** A part of the name. */
  q?: string | undefined
  status?: string | undefined
  category?: string | undefined
  language?: string | undefined
}

const columns = `id, name, language, category, status, variables, flow, components, created_at, updated_at,
  rejected_reason, quality, (select c.waba_id from connections c where c.id = connection_id) as account`

export const shownTemplates = (
  db: Db,
  workspaceId: string,
  { q, status, category, language }: ShownFilters,
  page: KeySet,
): Promise<ShownTemplate[]> =>
  db.rows(
    `select ${columns} from templates
     where workspace_id = $1 and removed_at is null and ($2::text is null or position(lower($2) in lower(name)) > 0)
       and ($3::text is null or status = $3) and ($4::text is null or category = $4)
       and ($5::text is null or language = $5) ${keySetClause(page, 6)}`,
    [workspaceId, q ?? null, status ?? null, category ?? null, language ?? null, ...keySetValues(page)],
  )

export const shownTemplate = (db: Db, workspaceId: string, id: string): Promise<ShownTemplate | undefined> =>
  db.first(`select ${columns} from templates where workspace_id = $1 and id = $2 and removed_at is null`, [
    workspaceId,
    id,
  ])
