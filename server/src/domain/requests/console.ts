import { type ListTotal, valuesOf } from '@parley/contract/console/list'
import type { TimelineEvent } from '@parley/contract/console/messages'
import type { LoggedRequest, LoggedRequests, RequestDetail, RequestFilters } from '@parley/contract/console/requests'
import type { ErrorReply } from '@parley/contract/error-reply'
import type { FieldError } from '@parley/contract/field-errors'
import { boundedTotal } from '../../db/bounded-total.ts'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { isUuid, withPrefix } from '../../lib/ids.ts'
import type { Position } from '../../lib/key-set.ts'
import { refuse } from '../../lib/refuse.ts'
import { countRequests, endOfScan, findRequests, hasUnindexedFilter, requestById, type Search } from './console.sql.ts'
import { contentsOf } from './inspector/contents.ts'
import type { RequestRow } from './requests.sql.ts'
import { errorMeaning } from './requests.ts'

/** The parts of a key that are shown with a request. */
export interface NamedKey {
  id: string
  name: string
  hint: string
  revokedAt: Date | null
}

export type KeyNames = ReadonlyMap<string, NamedKey>

/** Queries of keys and messages, passed in because this module may not import those. */
export interface RequestLookups {
  listKeys(db: Db, workspaceId: string): Promise<NamedKey[]>
  messageMadeBy(
    db: Db,
    workspaceId: string,
    request: { requestId: string; keyId: string; at: Date; until: Date },
  ): Promise<{ id: string; status: string; createdAt: Date } | null>
  findEventsOf(db: Db, workspaceId: string, messageId: string, since: Date): Promise<TimelineEvent[]>
  isInspected(db: Db, workspaceId: string): Promise<boolean>
}

export async function keyNames(lookups: RequestLookups, db: Db, workspaceId: string): Promise<KeyNames> {
  return new Map((await lookups.listKeys(db, workspaceId)).map((key) => [key.id, key]))
}

export interface PageOptions {
  limit: number
  /** Continue after this row, with older ones. */
  before: Position | null
  /** Only rows that are newer than this one. */
  after: Position | null
}

/** How many requests one search with an unindexed filter scans. */
export const maxScan = 30_000

/** A request is logged when it ends, with the time it began, so it can appear below rows that were already read. */
const lateMs = 30_000

/** Logged requests that match, newest first. With `after`, late requests from below that row may be included. */
export async function searchRequests(
  db: Db,
  workspaceId: string,
  keys: KeyNames,
  filters: RequestFilters,
  { limit, before, after }: PageOptions,
): Promise<Omit<LoggedRequests, 'next_cursor' | 'newest_cursor'> & { next: Position | null; newest: Position | null }> {
  const search = toSearch(filters, before, after)
  const lookAt = hasUnindexedFilter(search) ? maxScan : limit + 1
  const found =
    filters.id === undefined
      ? await findRequests(db, workspaceId, search, { take: limit + 1, lookAt })
      : await byId(db, workspaceId, filters.id)
  const rows = found.slice(0, limit)
  const isFull = found.length > rows.length
  const end =
    isFull || lookAt !== maxScan || filters.id !== undefined
      ? undefined
      : await endOfScan(db, workspaceId, search, lookAt)
  return {
    object: 'list',
    data: rows.map((row) => toLogged(row, keys)),
    has_more: isFull || end !== undefined,
    searched_to: end?.at.toISOString() ?? null,
    next: isFull ? (rows.at(-1) ?? null) : (end ?? null),
    newest: rows[0] ?? after,
  }
}

/** How many requests match, including requests that a live list has added. */
export const totalOfRequests = (db: Db, workspaceId: string, filters: RequestFilters): Promise<ListTotal> =>
  boundedTotal(db, async (tx, atMost) =>
    filters.id === undefined
      ? countRequests(tx, workspaceId, toSearch(filters, null, null), atMost)
      : (await byId(tx, workspaceId, filters.id)).length,
  )

/** `days` is how long bodies and error responses are stored. */
export async function getRequest(
  lookups: RequestLookups,
  db: Db,
  clock: Clock,
  workspaceId: string,
  id: string,
  days: number,
): Promise<RequestDetail> {
  const [row] = await byId(db, workspaceId, id)
  if (!row) return refuse('not_found')
  const entry = row.code === null ? null : errorMeaning(row.code)
  const until = new Date(row.at.getTime() + Math.ceil(row.duration_us / 1000) + 1000)
  const isSend = row.method === 'POST' && row.route === '/v1/messages' && row.status < 300 && row.key_id !== null
  const request = { requestId: row.id, keyId: row.key_id ?? '', at: row.at, until }
  const isOn = await lookups.isInspected(db, workspaceId)
  const contents = await contentsOf(db, workspaceId, row, { now: clock.now(), days, withBodies: isOn })
  const message = isSend ? await lookups.messageMadeBy(db, workspaceId, request) : null
  return {
    ...toLogged(row, await keyNames(lookups, db, workspaceId)),
    error: entry && { title: entry.title, cause: entry.cause, remedy: entry.remedy },
    target: contents.target,
    inspector_on: isOn,
    has_bodies: contents.hasBodies,
    stored_days: days,
    request_body: contents.request,
    response_body: contents.response,
    field_errors: row.code === null ? [] : fieldErrorsIn(contents.response?.text),
    message: message && { id: withPrefix('msg', message.id), status: message.status },
    events: message ? await lookups.findEventsOf(db, workspaceId, message.id, message.createdAt) : [],
  }
}

/** A stored error response is always complete JSON. */
function fieldErrorsIn(response: string | null | undefined): FieldError[] {
  if (!response) return []
  return (JSON.parse(response) as ErrorReply).error.errors ?? []
}

export { requestNear, type TrafficRow, trafficSince as readTraffic } from './console.sql.ts'
export { errorMeaning } from './requests.ts'

export const toLogged = ({ key_id, ...row }: RequestRow, keys: KeyNames): LoggedRequest => ({
  ...row,
  id: withPrefix('req', row.id),
  at: row.at.toISOString(),
  key: key_id === null ? null : { id: key_id, ...namesOf(keys.get(key_id)) },
})

const namesOf = (key: NamedKey | undefined) => ({ name: key?.name ?? null, hint: key?.hint ?? null })

export async function byId(db: Db, workspaceId: string, id: string): Promise<RequestRow[]> {
  const uuid = id.replace(/^req_/, '')
  const row = isUuid(uuid) ? await requestById(db, workspaceId, uuid) : undefined
  return row ? [row] : []
}

export function toSearch(filters: RequestFilters, before: Position | null, after: Position | null): Search {
  const from = filters.from === undefined ? null : new Date(filters.from)
  const codes = valuesOf(filters.code) ?? []
  const since = after && new Date(after.at.getTime() - lateMs)
  return {
    statuses: readStatuses(filters.status),
    code: codes.length === 1 ? (codes[0] ?? null) : null,
    codes: codes.length > 1 ? codes : null,
    methods: valuesOf(filters.method) ?? null,
    route: filters.route ?? null,
    keyIds: valuesOf(filters.key) ?? null,
    address: filters.address ?? null,
    from: from && since ? new Date(Math.max(from.getTime(), since.getTime())) : (from ?? since),
    to: filters.to === undefined ? null : new Date(filters.to),
    before,
  }
}

function readStatuses(status: string | undefined): Search['statuses'] {
  const statuses = valuesOf(status)?.map((each) => {
    const first = Number(each.replace('xx', '00'))
    return { first, last: each.endsWith('xx') ? first + 99 : first }
  })
  return statuses ?? null
}
