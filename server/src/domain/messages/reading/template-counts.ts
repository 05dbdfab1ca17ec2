import { valuesOf } from '@parley/contract/console/list'
import { type TemplateCounts, templateCountDays } from '@parley/contract/console/templates'
import { readLimitMs, tookTooLong, withTimeLimit } from '../../../db/bounded-total.ts'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import { countByTemplate } from './template-counts.sql.ts'

/** How many messages are read for the counts: of one template, and of all together. */
const countedMax = { each: 10_000, all: 100_000 }

/** Counts the newest messages of the templates. Returns none if that takes too long. */
export async function countTemplateMessages(
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
