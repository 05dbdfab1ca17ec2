import type { ConsoleTemplate, TemplateQuery } from '@parley/contract/console/templates'
import type { Db } from '../../db/db.ts'
import { withoutPrefix } from '../../lib/ids.ts'
import type { KeySet } from '../../lib/key-set.ts'
import { refuse } from '../../lib/refuse.ts'
import { type ConsoleTemplateRow, getConsoleTemplate, listConsoleTemplates } from './console.sql.ts'
import { toTemplate } from './templates.ts'

export const listForConsole = (db: Db, workspaceId: string, query: TemplateQuery, page: KeySet) =>
  // PostgreSQL text cannot contain NUL, so nothing can match.
  query.q?.includes('\0') ? Promise.resolve([]) : listConsoleTemplates(db, workspaceId, query, page)

export async function getForConsole(db: Db, workspaceId: string, id: string): Promise<ConsoleTemplate> {
  const uuid = withoutPrefix('tpl', id)
  const row = uuid && (await getConsoleTemplate(db, workspaceId, uuid))
  return row ? toConsoleTemplate(row) : refuse('not_found')
}

export const toConsoleTemplate = (row: ConsoleTemplateRow): ConsoleTemplate => ({
  ...toTemplate(row),
  rejected_reason: row.rejected_reason,
  quality: row.quality,
  account: row.account,
})
