import type { Db } from '../../db/db.ts'
import { without } from '../../db/without.ts'
import type { RequestRow } from './requests.sql.ts'

export interface Search {
  /** The first and the last status that count. */
  statuses: { first: number; last: number } | null
  code: string | null
  method: string | null
  /** Any part of the path. */
  route: string | null
  keyId: string | null
  address: string | null
  from: Date | null
  to: Date | null
  before: { at: Date; id: string } | null
}

const columns = 'id, at, key_id, method, route, status, code, duration_us, address, user_agent'

const alongIndex = <T>(db: Db, read: (tx: Db) => Promise<T>): Promise<T> =>
  without(['sort', 'seqscan', 'bitmapscan'], db, read)

/**
 * The newest that fit. Time and error have an index; what else is asked for is looked for among the newest `lookAt` of
 * those, so that a filter which hardly anything fits costs no more than any other.
 */
export const findRequests = (
  db: Db,
  workspaceId: string,
  search: Search,
  { take, lookAt }: { take: number; lookAt: number },
): Promise<RequestRow[]> =>
  alongIndex(db, (tx) =>
    tx.rows(
      `select ${columns} from (${looked(search, columns)} limit $7) as l
     where ($8::int is null or status between $8 and $9) and ($10::text is null or method = $10)
       and ($11::text is null or strpos(lower(route), $11) > 0) and ($12::uuid is null or key_id = $12)
       and ($13::text is null or address = $13)
     order by at desc, id desc limit $14`,
      [
        ...lookedValues(workspaceId, search),
        lookAt,
        search.statuses?.first ?? null,
        search.statuses?.last ?? null,
        search.method,
        search.route?.toLowerCase() ?? null,
        search.keyId,
        search.address,
        take,
      ],
    ),
  )

/** The latest with an error. */
export const latestOf = (db: Db, workspaceId: string, code: string, from: Date, take: number): Promise<RequestRow[]> =>
  alongIndex(db, (tx) =>
    tx.rows(
      `select ${columns} from request_log where workspace_id = $1 and code = $2 and at >= $3
       order by workspace_id, at desc, id desc limit $4`,
      [workspaceId, code, from, take],
    ),
  )

/** The last of those looked at, if there were as many. */
export const endOfLook = (
  db: Db,
  workspaceId: string,
  search: Search,
  lookAt: number,
): Promise<{ at: Date; id: string } | undefined> =>
  alongIndex(db, (tx) =>
    tx.first(`${looked(search, 'at, id')} offset $7 limit 1`, [...lookedValues(workspaceId, search), lookAt - 1]),
  )

// The cases have texts of their own, as in requests.sql.ts.
const looked = ({ code, before }: Search, what: string): string =>
  `select ${what} from request_log
   where workspace_id = $1 and ${code === null ? '$2::text is null' : 'code = $2'}
     and at >= $3::timestamptz and at < $4::timestamptz
     and ${before ? '(at, id) < ($5::timestamptz, $6::uuid) and at <= $5' : '$5::text is null and $6::text is null'}
   order by workspace_id, at desc, id desc`

const lookedValues = (workspaceId: string, { code, from, to, before }: Search) => [
  workspaceId,
  code,
  from ?? '-infinity',
  to ?? 'infinity',
  before?.at ?? null,
  before?.id ?? null,
]

/** An id says when it was made, which is when the request began; an id of a clock that was wrong is looked for everywhere. */
export async function requestById(db: Db, workspaceId: string, id: string): Promise<RequestRow | undefined> {
  const madeMs = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  const near = await db.first<RequestRow>(
    `select ${columns} from request_log where workspace_id = $1 and id = $2 and at between $3 and $4`,
    [workspaceId, id, ...[-nearMs, nearMs].map((by) => new Date(Math.min(madeMs + by, latestMs)))],
  )
  if (near) return near
  return without(['seqscan', 'indexscan'], db, (tx) =>
    tx.first(`select ${columns} from request_log where workspace_id = $1 and id = $2`, [workspaceId, id]),
  )
}

const nearMs = 600_000
/** An id that is none of ours may stand for any time; PostgreSQL knows those of this millennium. */
const latestMs = Date.UTC(2999, 0)

export interface TrafficRow {
  hour: Date
  code: string | null
  count: number
}

/** Requests by hour and error since an hour; without a code they went well. */
export const trafficSince = (db: Db, workspaceId: string, hour: Date): Promise<TrafficRow[]> =>
  db.rows(
    `select hour, code, sum(count)::bigint as count from traffic_hours
     where workspace_id = $1 and hour >= $2 group by 1, 2`,
    [workspaceId, hour],
  )
