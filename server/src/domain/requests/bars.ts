import type { ApiErrorFilters } from '@parley/contract/console/api-errors'
import type { ListBars } from '@parley/contract/console/list-bars'
import type { RequestFilters } from '@parley/contract/console/requests'
import { errorCatalogue } from '@parley/contract/errors'
import { readLimitMs, tookTooLong, withTimeLimit } from '../../db/bounded-total.ts'
import type { Db } from '../../db/db.ts'
import { type BarTimes, barTimes, hourMs, toListBars } from '../../lib/list-bars.ts'
import { isOneOf } from '../../lib/list-filters.ts'
import { hasStatus, rangeOf } from './api-errors.ts'
import { countByBar, endOfScan, type Search, trafficByBar } from './console.sql.ts'
import { byId, maxScan, toSearch } from './console.ts'
import { mutedOf } from './requests.sql.ts'
import { errorMeaning } from './requests.ts'

/**
 * Requests by result. The hourly counts know the time, the status, the error code and the key. Bars that are shorter than
 * an hour, and other filters, are counted from the log: the newest 30,000 requests, as the list searches them.
 */
export async function requestBars(
  db: Db,
  now: Date,
  workspaceId: string,
  { zone, ...filters }: RequestFilters & { zone?: string },
): Promise<ListBars> {
  const search = toSearch(filters, null, null)
  const { from, to } = search
  const isInHours = filters.id === undefined && isKnownByHour(search)
  const bars = barTimes({ from, to, zone }, now)
  if (isInHours && bars.stepMs >= hourMs) return byHour(db, workspaceId, search, bars)
  const counted = await byRow(db, workspaceId, { ...search, from: from ?? bars.times[0] ?? null }, bars, filters.id)
  const isIncomplete = counted.counted_from !== null
  return isIncomplete && isInHours
    ? byHour(db, workspaceId, search, barTimes({ from, to, zone }, now, hourMs))
    : counted
}

/** A request without an error code is counted as a success, whatever its status. */
const isKnownByHour = ({ statuses, methods, route, address }: Search): boolean =>
  [methods, route, address].every((each) => each === null) &&
  (statuses ?? []).every(({ first, last }) => first + 99 === last || statusesOfErrors.has(first))

const statusesOfErrors: ReadonlySet<number> = new Set(Object.values(errorCatalogue).map(({ status }) => status))

async function byHour(db: Db, workspaceId: string, search: Search, bars: BarTimes): Promise<ListBars> {
  const { statuses, keyIds } = search
  const codes = search.code === null ? search.codes : [search.code]
  const rows = (await trafficByBar(db, workspaceId, bars.times, keyIds))
    .map((row) => ({ ...row, status: row.code === null ? 200 : (errorMeaning(row.code).status ?? 400) }))
    .filter(({ code, status }) => {
      const isOfCode = codes === null || (code !== null && codes.includes(code))
      return isOfCode && (statuses?.some(({ first, last }) => status >= first && status <= last) ?? true)
    })
  return toListBars(bars, rows.map(withResult))
}

async function byRow(db: Db, workspaceId: string, search: Search, bars: BarTimes, id?: string): Promise<ListBars> {
  if (id !== undefined) {
    const rows = (await byId(db, workspaceId, id)).map(({ at, status }) => ({
      bar: bars.times.filter((time) => time <= at).length,
      status,
      count: 1,
    }))
    return toListBars(bars, rows.map(withResult))
  }
  const counted = await withTimeLimit(db, readLimitMs, async (tx) => ({
    rows: await countByBar(tx, workspaceId, search, bars.times, maxScan),
    end: await endOfScan(tx, workspaceId, search, maxScan),
  }))
  if (counted === tookTooLong) return toListBars(bars, [], bars.times.at(-1))
  return toListBars(bars, counted.rows.map(withResult), counted.end?.at)
}

const withResult = <Row extends { status: number }>(row: Row) => ({ ...row, result: resultOf(row.status) })

function resultOf(status: number): string {
  if (status === 429) return '429'
  return status >= 500 ? '5xx' : status >= 400 ? '4xx' : '2xx'
}

const mostCodes = 4

/** API errors by code: the four most frequent ones, and the others together. Muted ones are left out, as in the list. */
export async function apiErrorBars(
  db: Db,
  now: Date,
  workspaceId: string,
  { zone, code, status, ...query }: ApiErrorFilters & { zone?: string },
): Promise<ListBars> {
  const { from, to } = rangeOf(query, now)
  const bars = barTimes({ from, to, zone }, now, hourMs)
  const [traffic, muted] = await Promise.all([
    trafficByBar(db, workspaceId, bars.times, null),
    mutedOf(db, workspaceId),
  ])
  const isMuted = new Set(muted.map((each) => each.code))
  const rows = traffic.flatMap(({ code: result, ...row }) =>
    result !== null && !isMuted.has(result) && isOneOf(code, result) && hasStatus(status, errorMeaning(result).status)
      ? [{ ...row, result }]
      : [],
  )
  const sums = Map.groupBy(rows, ({ result }) => result)
  const most = [...sums]
    .map(([result, of]) => ({ result, count: of.reduce((sum, { count }) => sum + count, 0) }))
    .sort((left, right) => right.count - left.count || left.result.localeCompare(right.result))
    .slice(0, sums.size > mostCodes + 1 ? mostCodes : sums.size)
    .map(({ result }) => result)
  // In this order, so that the most frequent code is the first of the legend.
  const ordered = rows
    .map((row) => ({ ...row, result: most.includes(row.result) ? row.result : 'other' }))
    .sort((left, right) => placeOf(most, left.result) - placeOf(most, right.result))
  return toListBars(bars, ordered)
}

const placeOf = (most: readonly string[], result: string): number =>
  result === 'other' ? most.length : most.indexOf(result)
