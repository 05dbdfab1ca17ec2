import { type ErrorCode, errorCatalogue } from '@parley/contract/errors'
import type { Db } from '../../db/db.ts'
import { apiErrorGroups } from './requests.sql.ts'

export interface ApiErrorGroup {
  code: string
  title: string
  cause: string
  remedy: string
  count: number
  firstAt: Date
  lastAt: Date
  /** The ten with the most errors; `keyCount` is the total. */
  keys: string[]
  keyCount: number
  addresses: string[]
  addressCount: number
}

/** API errors grouped by code, most frequent first, with their explanation. */
export async function listApiErrors(db: Db, workspaceId: string | null, since: Date): Promise<ApiErrorGroup[]> {
  return (await apiErrorGroups(db, workspaceId, since)).map((row) => {
    const entry = errorCatalogue[row.code as ErrorCode] ?? { title: row.code, cause: '', remedy: '' }
    return {
      code: row.code,
      title: entry.title,
      cause: entry.cause,
      remedy: entry.remedy,
      count: row.count,
      firstAt: row.first_at,
      lastAt: row.last_at,
      keys: row.keys,
      keyCount: row.key_count,
      addresses: row.addresses,
      addressCount: row.address_count,
    }
  })
}
