import { valuesOf } from '@parley/contract/console/list'
import type { ConsoleTemplate, TemplateFilters } from '@parley/contract/console/templates'
import type { Db } from '../../db/db.ts'
import type { PagedList } from '../../db/paged-list.ts'
import { withoutPrefix } from '../../lib/ids.ts'
import { refuse } from '../../lib/refuse.ts'
import { type ConsoleTemplateRow, consoleTemplateList, getConsoleTemplate } from './console.sql.ts'
import { toTemplate } from './templates.ts'

export const templates: PagedList<TemplateFilters, ConsoleTemplateRow, ConsoleTemplate> = {
  rows: (db, workspaceId, filters, page) => consoleTemplateList.rows(db, toValues(workspaceId, filters), page),
  total: (db, workspaceId, filters) => consoleTemplateList.total(db, toValues(workspaceId, filters)),
  toItem: (row) => toConsoleTemplate(row),
  head: ['id', 'name', 'language', 'category', 'status', 'rejected_reason', 'quality', 'account', 'updated_at'],
  toLines: ({ id, name, language, category, status, rejected_reason, quality, account, updated_at }) => [
    [id, name, language, category, status, rejected_reason, quality, account, updated_at],
  ],
}

const toValues = (workspaceId: string, { q, status, category, language, from, to }: TemplateFilters) => ({
  workspaceId,
  q,
  statuses: valuesOf(status),
  categories: valuesOf(category),
  languages: valuesOf(language),
  from,
  to,
})

export const getForConsole = async (db: Db, workspaceId: string, id: string): Promise<ConsoleTemplate> =>
  toConsoleTemplate(await requireTemplate(db, workspaceId, id))

export async function requireTemplate(db: Db, workspaceId: string, id: string): Promise<ConsoleTemplateRow> {
  const uuid = withoutPrefix('tpl', id)
  return (uuid && (await getConsoleTemplate(db, workspaceId, uuid))) || refuse('not_found')
}

export { templateNamed } from './console.sql.ts'

export const toConsoleTemplate = (row: ConsoleTemplateRow): ConsoleTemplate => ({
  ...toTemplate(row),
  rejected_reason: row.rejected_reason,
  status_info: row.status_info,
  quality: row.quality,
  account: row.account,
})
