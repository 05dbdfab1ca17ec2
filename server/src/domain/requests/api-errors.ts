import type {
  ApiErrorDetail,
  ApiErrorFilters,
  ApiErrorGroup,
  ApiErrorGroups,
  ApiErrorPeriod,
} from '@parley/contract/console/api-errors'
import { errorCodes } from '@parley/contract/errors'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { exportAll } from '../../lib/csv-export.ts'
import { isOneOf } from '../../lib/list-filters.ts'
import { refuse } from '../../lib/refuse.ts'
import { sumByBucket, type TimeBuckets, timeBuckets } from '../../lib/time-buckets.ts'
import { latestOf, type TrafficRow } from './console.sql.ts'
import { errorMeaning, type KeyNames, readTraffic, toLogged } from './console.ts'
import { busiestGroups, type CountedRow, deleteMuted, insertMuted, type MutedRow, mutedOf } from './requests.sql.ts'
import { type ApiErrorGroup as Group, listApiErrors } from './requests.ts'

/** API errors of a period by code, most frequent first. Includes muted ones, which are marked as muted. */
export async function groupApiErrors(
  db: Db,
  clock: Clock,
  workspaceId: string,
  keys: KeyNames,
  { since = '24h', code, status }: ApiErrorFilters,
): Promise<ApiErrorGroups> {
  const steps = timeBuckets(since, clock.now())
  const [groups, traffic, muted] = await Promise.all([
    listApiErrors(db, workspaceId, steps.from),
    readTraffic(db, workspaceId, steps.from),
    mutedOf(db, workspaceId),
  ])
  return {
    object: 'list',
    data: groups
      .map((group) => toGroup(group, steps, traffic, muted, keys))
      .filter((group) => isOneOf(code, group.code) && hasStatus(status, group.status)),
    since: steps.from.toISOString(),
    step_hours: steps.hours,
  }
}

const hasStatus = (filter: string | undefined, status: number | null): boolean =>
  isOneOf(filter, String(status)) || isOneOf(filter, `${String(status).charAt(0)}xx`)

export const exportApiErrors = (
  db: Db,
  clock: Clock,
  workspaceId: string,
  keys: KeyNames,
  filters: ApiErrorFilters,
): AsyncIterable<string> =>
  exportAll({
    head: ['code', 'status', 'title', 'count', 'keys', 'addresses', 'first_at', 'last_at', 'muted'],
    rows: async () => (await groupApiErrors(db, clock, workspaceId, keys, filters)).data,
    toLine: ({ code, status, title, count, key_count, address_count, first_at, last_at, muted }) => [
      ...[code, status, title, count, key_count, address_count, first_at, last_at],
      muted !== null,
    ],
  })

/** `by_route` is computed from this many of the latest requests, because errors are not counted by route. */
const routeSampleSize = 500
const sampleCount = 20

export async function getApiErrorGroup(
  db: Db,
  clock: Clock,
  workspaceId: string,
  keys: KeyNames,
  code: string,
  period: ApiErrorPeriod,
): Promise<ApiErrorDetail> {
  const steps = timeBuckets(period, clock.now())
  const [all, latest, byKey, byAddress] = await Promise.all([
    groupApiErrors(db, clock, workspaceId, keys, { since: period }),
    latestOf(db, workspaceId, code, steps.from, routeSampleSize),
    busiestGroups(db, workspaceId, code, steps.from, 'key_id'),
    busiestGroups(db, workspaceId, code, steps.from, 'address'),
  ])
  const group = all.data.find((each) => each.code === code) ?? refuse('not_found')
  const routes = Map.groupBy(latest, ({ method, route }) => `${method} ${route}`)
  return {
    ...group,
    since: all.since,
    step_hours: all.step_hours,
    by_key: byKey.map((row) => ({ key: row.who === null ? null : namedKey(row.who, keys), ...counted(row) })),
    by_address: byAddress.map((row) => ({ address: row.who, ...counted(row) })),
    by_route: [...routes.values()]
      .map((rows) => ({ method: rows[0]?.method ?? '', route: rows[0]?.route ?? '', count: rows.length }))
      .sort((left, right) => right.count - left.count)
      .slice(0, 20),
    routes_of: latest.length,
    samples: latest.slice(0, sampleCount).map((row) => toLogged(row, keys)),
  }
}

/** The console hides muted groups. They are still counted. */
export async function muteApiError(db: Db, clock: Clock, workspaceId: string, code: string, by: string): Promise<void> {
  if (!(errorCodes as string[]).includes(code)) refuse('not_found')
  await insertMuted(db, workspaceId, { code, muted_by: by, muted_at: clock.now() })
}

export async function unmuteApiError(db: Db, workspaceId: string, code: string): Promise<void> {
  if ((await deleteMuted(db, workspaceId, code)) === 0) refuse('not_found')
}

export const listMuted = mutedOf

function toGroup(
  group: Group,
  steps: TimeBuckets,
  traffic: readonly TrafficRow[],
  muted: readonly MutedRow[],
  keys: KeyNames,
): ApiErrorGroup {
  const { code, title, cause, remedy, count } = group
  const mute = muted.find((row) => row.code === code)
  const ofCode = traffic.filter((row) => row.code === code)
  return {
    code,
    status: errorMeaning(code).status,
    title,
    cause,
    remedy,
    count,
    first_at: group.firstAt.toISOString(),
    last_at: group.lastAt.toISOString(),
    keys: group.keys.map((id) => namedKey(id, keys)),
    key_count: group.keyCount,
    addresses: group.addresses,
    address_count: group.addressCount,
    trend: sumByBucket(
      steps,
      ofCode,
      (row) => row.hour,
      (row) => row.count,
    ),
    muted: mute ? { by: mute.muted_by, at: mute.muted_at.toISOString() } : null,
  }
}

function namedKey(id: string, keys: KeyNames) {
  const key = keys.get(id)
  return { id, name: key?.name ?? null, hint: key?.hint ?? null, revoked: key ? key.revokedAt !== null : false }
}

const counted = ({ count, last_at }: CountedRow) => ({ count, last_at: last_at.toISOString() })
