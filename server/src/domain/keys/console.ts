import type { ConsoleKey, KeyFilters, KeyState, ListedKey } from '@parley/contract/console/keys'
import { isAboutToExpire } from '../../db/about-to-expire.ts'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { exportAll } from '../../lib/csv-export.ts'
import { hasText, isBetween, isOneOf } from '../../lib/list-filters.ts'
import { requestsByDay } from './keys.sql.ts'
import { type Key, listKeys } from './keys.ts'
import { replacementsOf } from './rotate.ts'
import { rejectedCodes } from './uses.ts'

const dayMs = 86_400_000
const daysShown = 7

/** A workspace's keys, newest first, each with its requests per day over the last seven days. */
export async function listConsoleKeys(
  db: Db,
  clock: Clock,
  workspaceId: string,
  filters: KeyFilters = {},
): Promise<ListedKey[]> {
  const now = clock.now()
  const today = Math.floor(now.getTime() / dayMs)
  const first = today - daysShown + 1
  const [keys, counts] = await Promise.all([
    listKeys(db, workspaceId),
    requestsByDay(db, workspaceId, new Date(first * dayMs), [...rejectedCodes]),
  ])
  const replacements = replacementsOf(keys)
  const byKey = Map.groupBy(counts, (row) => row.keyId)
  return keys
    .map((key) => {
      const days = Array<number>(daysShown).fill(0)
      for (const { day, count } of byKey.get(key.id) ?? []) {
        const index = Math.floor(day.getTime() / dayMs) - first
        if (index < daysShown) days[index] = count
      }
      const replacement = replacements.get(key.id)
      return {
        ...toConsoleKey(key, now, replacement),
        replaced_by: replacement ? { id: replacement.id, hint: replacement.hint } : null,
        requests_by_day: days,
      }
    })
    .filter(
      ({ name, id, hint, state, created_at }) =>
        hasText(filters.q, name, id, hint) &&
        isOneOf(filters.state, state) &&
        isBetween(created_at, filters.from, filters.to),
    )
}

export const exportKeys = (db: Db, clock: Clock, workspaceId: string, filters: KeyFilters): AsyncIterable<string> =>
  exportAll({
    head: [
      ...['id', 'name', 'hint', 'state', 'scopes', 'rate_limit_per_min', 'ip_allow_list', 'expires_at', 'revoked_at'],
      ...['created_by', 'created_at', 'last_used_at', 'last_used_ip', 'replaced_by'],
    ],
    rows: () => listConsoleKeys(db, clock, workspaceId, filters),
    toLine: (key) => [
      ...[key.id, key.name, key.hint, key.state, key.scopes.join(' '), key.rate_limit_per_min],
      ...[key.ip_allow_list.join(' '), key.expires_at, key.revoked_at],
      ...[key.created_by, key.created_at, key.last_used_at, key.last_used_ip, key.replaced_by?.id ?? null],
    ],
  })

/** `expiring` from when on the alerts say so. A rotated key is `expiring` at once, but causes no alert: a newer one works. */
function stateOf({ createdAt, revokedAt, expiresAt }: Key, now: Date, replacement?: Key): KeyState {
  if (revokedAt) return 'revoked'
  if (!expiresAt) return 'active'
  if (expiresAt <= now) return 'expired'
  return replacement || isAboutToExpire(createdAt, expiresAt, now) ? 'expiring' : 'active'
}

export const toConsoleKey = (key: Key, now: Date, replacement?: Key): ConsoleKey => ({
  id: key.id,
  name: key.name,
  hint: key.hint,
  state: stateOf(key, now, replacement),
  scopes: key.scopes,
  rate_limit_per_min: key.rateLimitPerMin,
  ip_allow_list: key.allowedRanges,
  expires_at: key.expiresAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
  created_by: key.createdBy,
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  last_used_ip: key.lastUsedAddress,
})
