import type { RequestFilters } from '@parley/contract/console/requests'
import type { Db } from '../../db/db.ts'
import { exportCsv } from '../../lib/csv-export.ts'
import { type KeyNames, searchRequests } from './console.ts'

export const exportRequests = (
  db: Db,
  workspaceId: string,
  keys: KeyNames,
  filters: RequestFilters,
  maxRows?: number,
): AsyncIterable<string> =>
  exportCsv({
    head: [
      ...['time', 'request_id', 'method', 'path', 'status', 'code', 'key_id', 'key_name', 'address', 'duration_ms'],
      'user_agent',
    ],
    ...(maxRows !== undefined && { maxRows }),
    async read(before: { at: Date; id: string } | null, limit) {
      const { data, next } = await searchRequests(db, workspaceId, keys, filters, { limit, before, after: null })
      return { rows: data, next }
    },
    toLines: ({ at, id, method, route, status, code, key, address, duration_us, user_agent }) => [
      [
        at,
        id,
        method,
        route,
        status,
        code,
        key?.id ?? null,
        key?.name ?? null,
        address,
        duration_us / 1000,
        user_agent,
      ],
    ],
  })
