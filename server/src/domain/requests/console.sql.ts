import type { Db } from '../../db/db.ts'
import { withPlannerSettingsOff } from '../../db/planner-settings.ts'
import { type Places, statement } from '../../db/statement.ts'
import { requestColumns as columns, type RequestRow } from './requests.sql.ts'

export interface Search {
  statuses: readonly { first: number; last: number }[] | null
  /** One has an index. */
  code: string | null
  codes: readonly string[] | null
  methods: readonly string[] | null
  route: string | null
  keyIds: readonly string[] | null
  address: string | null
  from: Date | null
  to: Date | null
  before: { at: Date; id: string } | null
}

/** Makes PostgreSQL read rows in index order, so that it can stop at the limit. */
const inIndexOrder = <T>(db: Db, read: (tx: Db) => Promise<T>): Promise<T> =>
  withPlannerSettingsOff(['sort', 'seqscan', 'bitmapscan'], db, read)

const within = {
  workspaceId: 'uuid',
  code: 'text',
  from: 'timestamptz',
  to: 'timestamptz',
  beforeAt: 'timestamptz',
  beforeId: 'uuid',
  lookAt: 'int',
} as const

const withinValues = (workspaceId: string, { code, from, to, before }: Search, lookAt: number) => ({
  workspaceId,
  code,
  from: from ?? '-infinity',
  to: to ?? 'infinity',
  beforeAt: before?.at,
  beforeId: before?.id,
  lookAt,
})

/** A separate statement for each combination of filters, so that each gets a plan with an index. See requests.sql.ts. */
const scanned = ({ code, before }: Search, selection: string, place: Places<typeof within>): string =>
  `select ${selection} from request_log
   where workspace_id = ${place.workspaceId} and at >= ${place.from} and at < ${place.to}
     ${code === null ? '' : `and code = ${place.code}`}
     ${before ? `and (at, id) < (${place.beforeAt}, ${place.beforeId}) and at <= ${place.beforeAt}` : ''}
   order by workspace_id, at desc, id desc`

const filters = {
  firstStatuses: 'int[]',
  lastStatuses: 'int[]',
  codes: 'text[]',
  methods: 'text[]',
  route: 'text',
  keyIds: 'uuid[]',
  address: 'text',
  take: 'int',
} as const

/**
 * The newest requests that match. Time and error code have an index. Other filters are applied only to the newest `lookAt`
 * rows of those, so that a filter with few matches does not scan the whole log.
 */
export const findRequests = (
  db: Db,
  workspaceId: string,
  search: Search,
  { take, lookAt }: { take: number; lookAt: number },
): Promise<RequestRow[]> => {
  const finding = statement(
    { ...within, ...filters },
    (place) => `select ${columns} from (${scanned(search, columns, place)} limit ${place.lookAt}) as l
     where ${matching(place)} order by at desc, id desc limit ${place.take}`,
  )
  return inIndexOrder(db, (tx) =>
    finding.rows(tx, { ...withinValues(workspaceId, search, lookAt), ...filterValues(search, take) }),
  )
}

export const countRequests = async (db: Db, workspaceId: string, search: Search, take: number): Promise<number> => {
  const counting = statement({ ...within, ...filters }, (place) => {
    const all = scanned(search, 'status, code, method, route, key_id, address', place)
    const matches = hasUnindexedFilter(search) ? `where ${matching(place)}` : ''
    return `select count(*)::int as count from (select 1 from (${all}) as l ${matches} limit ${place.take}) as counted`
  })
  const values = { ...withinValues(workspaceId, search, 0), ...filterValues(search, take) }
  const row = await inIndexOrder(db, (tx) => counting.first<{ count: number }>(tx, values))
  return row?.count ?? 0
}

/** Whether a search has a condition that no index helps to find. */
export const hasUnindexedFilter = ({ statuses, codes, methods, route, keyIds, address }: Search): boolean =>
  [statuses, codes, methods, route, keyIds, address].some((each) => each !== null)

const matching = (place: Places<typeof filters>): string => `(${place.firstStatuses} is null
     or exists (select 1 from unnest(${place.firstStatuses}, ${place.lastStatuses}) as of(first, last)
       where status between first and last))
   and (${place.codes} is null or code = any(${place.codes}))
   and (${place.methods} is null or method = any(${place.methods}))
   and (${place.route} is null or strpos(lower(route), ${place.route}) > 0)
   and (${place.keyIds} is null or key_id = any(${place.keyIds}))
   and (${place.address} is null or address = ${place.address})`

const filterValues = ({ statuses, codes, methods, route, keyIds, address }: Search, take: number) => ({
  firstStatuses: statuses?.map(({ first }) => first),
  lastStatuses: statuses?.map(({ last }) => last),
  codes,
  methods,
  route: route?.toLowerCase(),
  keyIds,
  address,
  take,
})

/** The last row of the scan, if the scan reached its limit. */
export const endOfScan = (
  db: Db,
  workspaceId: string,
  search: Search,
  lookAt: number,
): Promise<{ at: Date; id: string } | undefined> => {
  const ending = statement(within, (place) => `${scanned(search, 'at, id', place)} offset ${place.lookAt} limit 1`)
  return inIndexOrder(db, (tx) => ending.first(tx, withinValues(workspaceId, search, lookAt - 1)))
}

/** An ID contains its creation time, when the request began. If the clock was wrong then, all partitions are searched. */
export async function requestById(db: Db, workspaceId: string, id: string): Promise<RequestRow | undefined> {
  const createdMs = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  const near = await requestNear(db, workspaceId, id, new Date(Math.min(createdMs, latestMs)))
  if (near) return near
  return withPlannerSettingsOff(['seqscan', 'indexscan'], db, (tx) =>
    tx.first(`select ${columns} from request_log where workspace_id = $1 and id = $2`, [workspaceId, id]),
  )
}

/** The log is partitioned by time. */
export const requestNear = (db: Db, workspaceId: string, id: string, at: Date): Promise<RequestRow | undefined> =>
  db.first(`select ${columns} from request_log where workspace_id = $1 and id = $2 and at between $3 and $4`, [
    ...[workspaceId, id],
    ...[-nearMs, nearMs].map((by) => new Date(at.getTime() + by)),
  ])

const nearMs = 600_000
/** A made-up ID may contain any time. This keeps it within the range of PostgreSQL's timestamps. */
const latestMs = Date.UTC(2999, 0)

export interface TrafficRow {
  hour: Date
  code: string | null
  count: number
}

/** The newest `lookAt` requests that match, by bar and status. */
export const countByBar = (
  db: Db,
  workspaceId: string,
  search: Search,
  times: readonly Date[],
  lookAt: number,
): Promise<{ bar: number; status: number; count: number }[]> => {
  const counting = statement(
    { ...within, ...filters, times: 'timestamptz[]' },
    (place) => `select width_bucket(at, ${place.times}) as bar, status, count(*)::int as count
     from (${scanned(search, 'at, status, code, method, route, key_id, address', place)} limit ${place.lookAt}) as l
     where ${matching(place)} group by 1, 2`,
  )
  const values = { ...withinValues(workspaceId, search, lookAt), ...filterValues(search, 0), times }
  return inIndexOrder(db, (tx) => counting.rows(tx, values))
}

/** Requests by bar and error code, from the hourly counts. A null code is a success. */
export const trafficByBar = (
  db: Db,
  workspaceId: string,
  times: readonly Date[],
  keyIds: readonly string[] | null,
): Promise<{ bar: number; code: string | null; count: number }[]> =>
  db.rows(
    `select width_bucket(hour, $2::timestamptz[]) as bar, code, sum(count)::bigint as count from traffic_hours
     where workspace_id = $1 and hour >= $3 and hour < $4 and ($5::uuid[] is null or key_id = any($5)) group by 1, 2`,
    [workspaceId, times, times[0], times.at(-1), keyIds],
  )

/** Requests by hour and error code since an hour. A null code is a success. */
export const trafficSince = (db: Db, workspaceId: string, hour: Date): Promise<TrafficRow[]> =>
  db.rows(
    `select hour, code, sum(count)::bigint as count from traffic_hours
     where workspace_id = $1 and hour >= $2 group by 1, 2`,
    [workspaceId, hour],
  )
