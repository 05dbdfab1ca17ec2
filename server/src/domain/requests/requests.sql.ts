import type { Db } from '../../db/db.ts'

export interface RequestRow {
  id: string
  at: Date
  key_id: string | null
  method: string
  route: string
  status: number
  code: string | null
  duration_us: number
  address: string | null
  user_agent: string | null
}

export const requestColumns = 'id, at, key_id, method, route, status, code, duration_us, address, user_agent'

export interface ApiErrorGroupRow {
  code: string
  count: number
  firstAt: Date
  lastAt: Date
  /** The ten with the most errors; `keyCount` is the total. */
  keys: string[]
  keyCount: number
  addresses: string[]
  addressCount: number
}

/** The partial hour at the start comes from the log; the full hours come from the hourly counts. */
const ofWorkspace = `select code, key_id, address, count, first_at, last_at from refusal_hours
         where workspace_id = $3 and hour >= $4 and hour < $2
         union all
         select code, key_id, address, 1, at, at from request_log
         where workspace_id = $3 and code is not null and at >= $1 and at < least($4, $2)`

/** Of the requests without a workspace, only the first are in the log. */
const unauthenticated = `select code, null::uuid as key_id, client as address, count, first_at, last_at
         from unauthenticated_minutes
         where code is not null and minute > $1::timestamptz - interval '1 minute' and last_at >= $1 and minute < $2`

/** API errors since a time by code, until a full hour, each with the ten keys and IP addresses that have the most. */
export const apiErrorGroups = (
  db: Db,
  workspaceId: string | null,
  since: Date,
  until: Date | null,
): Promise<ApiErrorGroupRow[]> =>
  db.transaction(async (tx) => {
    const times = [since, until ?? 'infinity']
    const nextHour = new Date(Math.ceil(since.getTime() / 3_600_000) * 3_600_000)
    // With row-level security, PostgreSQL underestimates the rows by a factor of 100 and would sort on disk.
    await tx.rows(`select set_config('enable_sort', 'off', true), set_config('work_mem', '64MB', true)`)
    return tx.rows(
      `with counted as materialized (
       select code, key_id, address, sum(count) as count, min(first_at) as first_at, max(last_at) as last_at
       from (
         ${workspaceId === null ? unauthenticated : ofWorkspace}
       ) as refused
       group by 1, 2, 3
     ), by_key as (
       select code, key_id, row_number() over (partition by code order by sum(count) desc, key_id) as place
       from counted where key_id is not null group by 1, 2
     ), by_address as (
       select code, address, row_number() over (partition by code order by sum(count) desc, address) as place
       from counted where address is not null group by 1, 2
     )
     select c.code, sum(c.count)::bigint as count, min(c.first_at) as "firstAt", max(c.last_at) as "lastAt",
       array(select k.key_id::text from by_key k where k.code = c.code and k.place <= 10 order by k.place) as keys,
       count(distinct c.key_id) as "keyCount",
       array(select a.address from by_address a where a.code = c.code and a.place <= 10 order by a.place)
         as addresses,
       count(distinct c.address) as "addressCount"
     from counted c group by c.code order by count desc, c.code`,
      workspaceId === null ? times : [...times, workspaceId, nextHour],
    )
  })

export interface CountedRow {
  /** A key ID or an IP address; null if it is unknown. */
  who: string | null
  count: number
  last_at: Date
}

/** The 50 keys or IP addresses with the most errors of one code, between full hours. */
export const busiestGroups = (
  db: Db,
  workspaceId: string,
  code: string,
  { from, to }: { from: Date; to: Date },
  by: 'key_id' | 'address',
) =>
  db.rows<CountedRow>(
    `select ${by}::text as who, sum(count)::bigint as count, max(last_at) as last_at from refusal_hours
     where workspace_id = $1 and code = $2 and hour >= $3 and hour < $4
     group by 1 order by 2 desc, 1 limit 50`,
    [workspaceId, code, from, to],
  )

export interface MutedRow {
  code: string
  muted_by: string
  muted_at: Date
}

export const mutedOf = (db: Db, workspaceId: string): Promise<MutedRow[]> =>
  db.rows('select code, muted_by, muted_at from muted_refusals where workspace_id = $1', [workspaceId])

/** Does nothing if it is muted already. */
export const insertMuted = (db: Db, workspaceId: string, { code, muted_by, muted_at }: MutedRow): Promise<number> =>
  db.change(
    `insert into muted_refusals (workspace_id, code, muted_by, muted_at) values ($1, $2, $3, $4) on conflict do nothing`,
    [workspaceId, code, muted_by, muted_at],
  )

export const deleteMuted = (db: Db, workspaceId: string, code: string): Promise<number> =>
  db.change('delete from muted_refusals where workspace_id = $1 and code = $2', [workspaceId, code])

export interface RejectedWebhooks {
  count: number
  lastAt: Date | null
}

/** The rejected webhooks of a route in the request log, counted up to 1000. */
export const rejectedOf = (db: Db, code: string, route: string, since: Date): Promise<RejectedWebhooks | undefined> =>
  db.first(
    `select count(*)::int as count, max(at) as "lastAt" from (
       select at from request_log where workspace_id is null and code = $1 and at >= $3 and route = $2
       order by at desc limit 1000) as newest`,
    [code, route, since],
  )
