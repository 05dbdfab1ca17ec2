import type { Db } from '../../db/db.ts'
import { withPlannerSettingsOff } from '../../db/planner-settings.ts'
import { type Places, statement } from '../../db/statement.ts'
import { requestColumns as columns, type RequestRow } from './requests.sql.ts'

export interface Search {
  /** Inclusive range of status codes. */
  statuses: { first: number; last: number } | null
  code: string | null
  method: string | null
  /** A substring of the path. */
  route: string | null
  keyId: string | null
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
  firstStatus: 'int',
  lastStatus: 'int',
  method: 'text',
  route: 'text',
  keyId: 'uuid',
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
  const { statuses, route, method, keyId, address } = search
  const finding = statement(
    { ...within, ...filters },
    (place) => `select ${columns} from (${scanned(search, columns, place)} limit ${place.lookAt}) as l
     where (${place.firstStatus} is null or status between ${place.firstStatus} and ${place.lastStatus})
       and (${place.method} is null or method = ${place.method})
       and (${place.route} is null or strpos(lower(route), ${place.route}) > 0)
       and (${place.keyId} is null or key_id = ${place.keyId})
       and (${place.address} is null or address = ${place.address})
     order by at desc, id desc limit ${place.take}`,
  )
  return inIndexOrder(db, (tx) =>
    finding.rows(tx, {
      ...withinValues(workspaceId, search, lookAt),
      firstStatus: statuses?.first,
      lastStatus: statuses?.last,
      method,
      route: route?.toLowerCase(),
      keyId,
      address,
      take,
    }),
  )
}

/** The latest requests with this error code. */
export const latestOf = (db: Db, workspaceId: string, code: string, from: Date, take: number): Promise<RequestRow[]> =>
  inIndexOrder(db, (tx) =>
    tx.rows(
      `select ${columns} from request_log where workspace_id = $1 and code = $2 and at >= $3
       order by workspace_id, at desc, id desc limit $4`,
      [workspaceId, code, from, take],
    ),
  )

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
  const near = await db.first<RequestRow>(
    `select ${columns} from request_log where workspace_id = $1 and id = $2 and at between $3 and $4`,
    [workspaceId, id, ...[-nearMs, nearMs].map((by) => new Date(Math.min(createdMs + by, latestMs)))],
  )
  if (near) return near
  return withPlannerSettingsOff(['seqscan', 'indexscan'], db, (tx) =>
    tx.first(`select ${columns} from request_log where workspace_id = $1 and id = $2`, [workspaceId, id]),
  )
}

const nearMs = 600_000
/** A made-up ID may contain any time. This keeps it within the range of PostgreSQL's timestamps. */
const latestMs = Date.UTC(2999, 0)

export interface TrafficRow {
  hour: Date
  code: string | null
  count: number
}

/** Requests by hour and error code since an hour. A null code is a success. */
export const trafficSince = (db: Db, workspaceId: string, hour: Date): Promise<TrafficRow[]> =>
  db.rows(
    `select hour, code, sum(count)::bigint as count from traffic_hours
     where workspace_id = $1 and hour >= $2 group by 1, 2`,
    [workspaceId, hour],
  )
