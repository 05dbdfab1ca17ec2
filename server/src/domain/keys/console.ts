import type { ConsoleKey, KeyFilters, KeyState, ListedKey } from '@parley/contract/console/keys'
import { isAboutToExpire } from '../../db/about-to-expire.ts'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { exportAll } from '../../lib/csv-export.ts'
import { hasText, isBetween, isOneOf } from '../../lib/list-filters.ts'
import { errorMeaning } from '../requests/requests.ts'
import { type DayCount, requestsByDay } from './keys.sql.ts'
import { type Key, listKeys } from './keys.ts'
import { replacementsOf } from './rotate.ts'

const dayMs = 86_400_000
const daysShown = 7

/** A workspace's keys, newest first, each with its requests by day and result over the last seven days. */
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
    requestsByDay(db, workspaceId, new Date(first * dayMs)),
  ])
  const replacements = replacementsOf(keys)
  const replaced = new Map(keys.map((key) => [replacements.get(key.id)?.id, key]))
  const byKey = Map.groupBy(counts, (row) => row.keyId)
  return keys
    .map((key) => {
      const replacement = replacements.get(key.id)
      return {
        ...toConsoleKey(key, now, replacement),
        replaced_by: nameOf(replacement),
        replaces: nameOf(replaced.get(key.id)),
        requests_by_day: resultsByDay(byKey.get(key.id) ?? [], first),
      }
    })
    .filter(
      ({ name, id, hint, state, created_at }) =>
        hasText(filters.q, name, id, hint) &&
        isOneOf(filters.state, state) &&
        isBetween(created_at, filters.from, filters.to),
    )
}

const nameOf = (key: Key | undefined) => (key ? { id: key.id, hint: key.hint } : null)

/** By the status that the error catalogue has for each code. */
function resultsByDay(counts: readonly DayCount[], first: number): ListedKey['requests_by_day'] {
  const days = () => Array<number>(daysShown).fill(0)
  const results = { ok: days(), refused: days(), rate_limited: days(), failed: days() }
  for (const { day, code, count } of counts) {
    const status = code === null ? 200 : (errorMeaning(code).status ?? 400)
    const result = status < 400 ? 'ok' : status === 429 ? 'rate_limited' : status < 500 ? 'refused' : 'failed'
    const index = Math.floor(day.getTime() / dayMs) - first
    if (index < daysShown) results[result][index] = (results[result][index] ?? 0) + count
  }
  return results
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

/** `expiring` as soon as alerts say so. A rotated key is `expiring` immediately, but causes no alert: its successor works. */
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
