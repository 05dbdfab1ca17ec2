import type {
  ApiErrorDetail,
  ApiErrorFilters,
  ApiErrorGroup,
  ApiErrorGroups,
  ApiErrorQuery,
  InvalidField,
} from '@parley/contract/console/api-errors'
import { errorCodes } from '@parley/contract/errors'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { exportAll } from '../../lib/csv-export.ts'
import { withPrefix } from '../../lib/ids.ts'
import { isOneOf } from '../../lib/list-filters.ts'
import { refuse } from '../../lib/refuse.ts'
import { hoursOf, sumByBucket, type TimeBuckets, timeBuckets } from '../../lib/time-buckets.ts'
import { findRequests, type TrafficRow } from './console.sql.ts'
import { errorMeaning, type KeyNames, readTraffic, toLogged, toSearch } from './console.ts'
import { fieldErrorsOf } from './inspector/contents.sql.ts'
import { busiestGroups, type CountedRow, deleteMuted, insertMuted, type MutedRow, mutedOf } from './requests.sql.ts'
import { type ApiErrorGroup as Group, listApiErrors } from './requests.ts'

/** API errors of a period by code, most frequent first. Includes muted ones, which are marked as muted. */
export async function groupApiErrors(
  db: Db,
  clock: Clock,
  workspaceId: string,
  keys: KeyNames,
  { code, status, ...query }: ApiErrorFilters,
  days: number,
): Promise<ApiErrorGroups> {
  const steps = rangeOf(query, clock.now())
  const [groups, traffic, muted, fields] = await Promise.all([
    listApiErrors(db, workspaceId, steps.from, steps.to),
    readTraffic(db, workspaceId, steps.from),
    mutedOf(db, workspaceId),
    invalidFields(db, clock, workspaceId, steps, days),
  ])
  return {
    object: 'list',
    data: groups
      .map((group) => toGroup(group, steps, traffic, muted, keys, fields))
      .filter((group) => isOneOf(code, group.code) && hasStatus(status, group.status)),
    since: steps.from.toISOString(),
    step_hours: steps.hours,
  }
}

const dayMs = 86_400_000
/** The most that PARLEY_RETENTION_DAYS can be. */
const mostDays = 3_650

/**
 * A period until now, or the hours from `from` until `to`. Without `from`, it is the day before `to`. The hours are only those
 * that can have data, and the day after them, because each one is a step of the trend.
 */
export function rangeOf({ since = '24h', from, to }: ApiErrorQuery, now: Date): TimeBuckets {
  if (from === undefined && to === undefined) return timeBuckets(since, now)
  const clamp = (ms: number) =>
    new Date(Math.max(now.getTime() - mostDays * dayMs, Math.min(ms, now.getTime() + dayMs)))
  const until = to === undefined ? now.getTime() : Date.parse(to)
  return hoursOf(clamp(from === undefined ? until - dayMs : Date.parse(from)), clamp(until))
}

export const hasStatus = (filter: string | undefined, status: number | null): boolean =>
  isOneOf(filter, String(status)) || isOneOf(filter, `${String(status).charAt(0)}xx`)

export const exportApiErrors = (
  db: Db,
  clock: Clock,
  workspaceId: string,
  keys: KeyNames,
  filters: ApiErrorFilters,
  days: number,
): AsyncIterable<string> =>
  exportAll({
    head: ['code', 'status', 'title', 'count', 'keys', 'addresses', 'first_at', 'last_at', 'muted'],
    rows: async () => (await groupApiErrors(db, clock, workspaceId, keys, filters, days)).data,
    toLine: ({ code, status, title, count, key_count, address_count, first_at, last_at, muted }) => [
      ...[code, status, title, count, key_count, address_count, first_at, last_at],
      muted !== null,
    ],
  })

/** Routes and fields are those of this many of the latest requests, because errors are not counted by them. */
const sampleSize = 500
const sampleCount = 20

const latestOf = (db: Db, workspaceId: string, code: string, { from, to }: { from: Date; to: Date }) =>
  findRequests(
    db,
    workspaceId,
    { ...toSearch({ code }, null, null), from, to },
    { take: sampleSize, lookAt: sampleSize },
  )

export async function getApiErrorGroup(
  db: Db,
  clock: Clock,
  workspaceId: string,
  keys: KeyNames,
  code: string,
  query: ApiErrorQuery,
  days: number,
): Promise<ApiErrorDetail> {
  const steps = rangeOf(query, clock.now())
  const [all, latest, byKey, byAddress] = await Promise.all([
    groupApiErrors(db, clock, workspaceId, keys, query, days),
    latestOf(db, workspaceId, code, steps),
    busiestGroups(db, workspaceId, code, steps, 'key_id'),
    busiestGroups(db, workspaceId, code, steps, 'address'),
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

/** The fields of the latest invalid requests. Error responses are stored, and shown, for `days`. */
async function invalidFields(
  db: Db,
  clock: Clock,
  workspaceId: string,
  { from, to }: TimeBuckets,
  days: number,
): Promise<InvalidField[]> {
  const since = new Date(Math.max(from.getTime(), clock.now().getTime() - days * 86_400_000))
  const latest = await latestOf(db, workspaceId, 'validation_failed', { from: since, to })
  const times = new Map(latest.map(({ id, at }) => [id, at]))
  const errors = await fieldErrorsOf(db, workspaceId, [...times.keys()], { from: latest.at(-1)?.at ?? to, to })
  const newestFirst = errors
    .map(({ requestId, param, code }) => ({
      id: requestId,
      at: times.get(requestId) ?? from,
      field: inAnyPlace(param),
      code,
    }))
    .sort((left, right) => right.at.getTime() - left.at.getTime())
  return [...Map.groupBy(newestFirst, ({ field }) => field)]
    .map(([field, found]) => ({
      field,
      count: new Set(found.map(({ id }) => id)).size,
      codes: [...new Set(found.map(({ code }) => code))],
      request_id: withPrefix('req', found[0]?.id ?? ''),
      last_at: (found[0]?.at ?? from).toISOString(),
    }))
    .sort((left, right) => right.count - left.count || left.field.localeCompare(right.field))
    .slice(0, 20)
}

/** `contacts.3.name` is `contacts[].name`. A number at the end is the name of a variable. */
const inAnyPlace = (param: string): string => param.replaceAll(/\.\d+(?=\.)/g, '[]')

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
  fields: InvalidField[],
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
    trend: sumByBucket(steps, ofCode, (row) => row.count),
    fields: code === 'validation_failed' ? fields : [],
    muted: mute ? { by: mute.muted_by, at: mute.muted_at.toISOString() } : null,
  }
}

function namedKey(id: string, keys: KeyNames) {
  const key = keys.get(id)
  return { id, name: key?.name ?? null, hint: key?.hint ?? null, revoked: key ? key.revokedAt !== null : false }
}

const counted = ({ count, last_at }: CountedRow) => ({ count, last_at: last_at.toISOString() })
