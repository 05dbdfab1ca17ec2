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
 * The log as CSV, page by page: the next is read when the one before was taken. It ends at `most` rows, and says so in
 * its last line.
 */
export async function* exportRequests(
  db: Db,
  workspaceId: string,
  keys: KeyNames,
  filters: RequestFilters,
  most: number = exportMax,
): AsyncGenerator<string> {
  yield csvLines([header])
  let written = 0
  for (let before: { at: Date; id: string } | null = null; ; ) {
    const asked = { limit: Math.min(pageRows, most - written), before, after: null }
    const page = await searchRequests(db, workspaceId, keys, filters, asked)
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
    if (written >= most) {
      yield csvLines([[`Cut off after ${most} rows. Narrow the filters or the time to export the rest.`]])
      return
    }
  }
}
