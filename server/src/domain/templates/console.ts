import { type ListTotal, valuesOf } from '@parley/contract/console/list'
import type { ConsoleTemplate, TemplateFilters } from '@parley/contract/console/templates'
import { boundedTotal } from '../../db/bounded-total.ts'
import type { Db } from '../../db/db.ts'
import { exportNewestFirst } from '../../lib/csv-export.ts'
import { withoutPrefix } from '../../lib/ids.ts'
import type { KeySet } from '../../lib/key-set.ts'
import { refuse } from '../../lib/refuse.ts'
import {
  type ConsoleTemplateRow,
  countConsoleTemplates,
  getConsoleTemplate,
  listConsoleTemplates,
  type TemplateListFilters,
} from './console.sql.ts'
import { markOf, toTemplate } from './templates.ts'

export const listForConsole = (db: Db, workspaceId: string, filters: TemplateFilters, page: KeySet) =>
  listConsoleTemplates(db, workspaceId, toFilters(filters), page)

export const totalOfTemplates = (db: Db, workspaceId: string, filters: TemplateFilters): Promise<ListTotal> =>
  boundedTotal(db, (tx, atMost) => countConsoleTemplates(tx, workspaceId, toFilters(filters), atMost))

export const exportTemplates = (db: Db, workspaceId: string, filters: TemplateFilters): AsyncIterable<string> =>
  exportNewestFirst({
    head: ['id', 'name', 'language', 'category', 'status', 'rejected_reason', 'quality', 'account', 'updated_at'],
    rows: (page) => listForConsole(db, workspaceId, filters, page),
    positionOf: markOf,
    toLines: (row) => {
      const { id, name, language, category, status, rejected_reason, quality, account, updated_at } =
        toConsoleTemplate(row)
      return [[id, name, language, category, status, rejected_reason, quality, account, updated_at]]
    },
  })

const toFilters = ({ q, status, category, language, from, to }: TemplateFilters): TemplateListFilters => ({
  q,
  statuses: valuesOf(status),
  categories: valuesOf(category),
  languages: valuesOf(language),
  from: from === undefined ? undefined : new Date(from),
  to: to === undefined ? undefined : new Date(to),
})

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
