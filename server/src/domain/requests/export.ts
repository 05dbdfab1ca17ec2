import { exportMax, type RequestFilters } from '@parley/contract/console/requests'
import type { Db } from '../../db/db.ts'
import { csvLines } from '../../lib/csv.ts'
import { type KeyNames, searchRequests } from './console.ts'

const header = [
  'time',
  'request_id',
  'method',
  'path',
  'status',
  'code',
  'key_id',
  'key_name',
  'address',
  'duration_ms',
  'user_agent',
]

const pageRows = 1000

/**
 * The request log as CSV. Each page is read only when the one before was consumed. The export stops at `maxRows`, and its
 * last line then says so.
 */
export async function* exportRequests(
  db: Db,
  workspaceId: string,
  keys: KeyNames,
  filters: RequestFilters,
  maxRows: number = exportMax,
): AsyncGenerator<string> {
  yield csvLines([header])
  let written = 0
  for (let before: { at: Date; id: string } | null = null; ; ) {
    const options = { limit: Math.min(pageRows, maxRows - written), before, after: null }
    const page = await searchRequests(db, workspaceId, keys, filters, options)
    written += page.data.length
    yield csvLines(
      page.data.map((row) => [
        row.at,
        row.id,
        row.method,
        row.route,
        row.status,
        row.code,
        row.key?.id ?? null,
        row.key?.name ?? null,
        row.address,
        row.duration_us / 1000,
        row.user_agent,
      ]),
    )
    before = page.next
    if (!before) return
    if (written >= maxRows) {
      yield csvLines([[`Truncated after ${maxRows} rows. Narrow the filters or the time range to export the rest.`]])
      return
    }
  }
}
