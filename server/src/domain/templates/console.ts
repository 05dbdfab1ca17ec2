import { valuesOf } from '@parley/contract/console/list'
import {
  type ConsoleTemplate,
  type TemplateCounts,
  type TemplateFilters,
  templateCountDays,
} from '@parley/contract/console/templates'
import { readLimitMs, tookTooLong, withTimeLimit } from '../../db/bounded-total.ts'
import type { Db } from '../../db/db.ts'
import type { PagedList } from '../../db/paged-list.ts'
import type { Clock } from '../../lib/clock.ts'
import { withoutPrefix, withPrefix } from '../../lib/ids.ts'
import { refuse } from '../../lib/refuse.ts'
import { type ConsoleTemplateRow, consoleTemplateList, countByTemplate, getConsoleTemplate } from './console.sql.ts'
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

export async function getForConsole(db: Db, workspaceId: string, id: string): Promise<ConsoleTemplate> {
  const uuid = withoutPrefix('tpl', id)
  const row = uuid && (await getConsoleTemplate(db, workspaceId, uuid))
  return row ? toConsoleTemplate(row) : refuse('not_found')
}

const toConsoleTemplate = (row: ConsoleTemplateRow): ConsoleTemplate => ({
  ...toTemplate(row),
  rejected_reason: row.rejected_reason,
  status_info: row.status_info,
  quality: row.quality,
  account: row.account,
})

/** How many messages are read for the counts: of one template, and of all together. */
const countedMax = { each: 10_000, all: 100_000 }

/** Counts the newest messages of the templates. Returns none if that takes too long. */
export async function countMessages(
  db: Db,
  clock: Clock,
  workspaceId: string,
  ids: string | undefined,
): Promise<TemplateCounts> {
  const uuids = (valuesOf(ids) ?? []).flatMap((id) => withoutPrefix('tpl', id) ?? [])
  const atMost = Math.min(countedMax.each, Math.floor(countedMax.all / uuids.length))
  const since = new Date(clock.now().getTime() - templateCountDays * 86_400_000)
  const rows = await withTimeLimit(db, readLimitMs, (tx) => countByTemplate(tx, workspaceId, uuids, since, atMost + 1))
  if (rows === tookTooLong) return { data: [] }
  return {
    data: rows.map(({ id, sent, ...counts }) => ({
      id: withPrefix('tpl', id),
      sent: Math.min(sent, atMost),
      ...counts,
      is_exact: sent <= atMost,
    })),
  }
}
