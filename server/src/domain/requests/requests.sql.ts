import type { Db } from '../../db/db.ts'
import type { RequestRecord } from '../../lib/gate.ts'

/** Logs a batch and counts its refusals by the hour, in one statement. */
export async function insertRequests(db: Db, records: readonly RequestRecord[]): Promise<void> {
  await db.change(
    `with new as materialized (
       select * from unnest($1::timestamptz[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[],
         $7::smallint[], $8::text[], $9::int[], $10::inet[], $11::text[])
         as n(at, id, workspace_id, key_id, method, route, status, code, duration_us, address, user_agent)
     ), logged as (
       insert into request_log
         (at, id, workspace_id, key_id, method, route, status, code, duration_us, address, user_agent)
       select * from new
     )
     insert into refusal_hours as h (hour, workspace_id, code, key_id, address, count, first_at, last_at)
     select date_trunc('hour', at, 'UTC'), workspace_id, code, key_id, address, count(*), min(at), max(at)
     from new where code is not null group by 1, 2, 3, 4, 5 order by 2, 3, 1, 4, 5
     on conflict (workspace_id, code, hour, key_id, address) do update set
       count = h.count + excluded.count,
       first_at = least(h.first_at, excluded.first_at),
       last_at = greatest(h.last_at, excluded.last_at)`,
    [
      records.map((r) => r.at),
      records.map((r) => r.id),
      records.map((r) => r.caller?.workspaceId ?? null),
      records.map((r) => r.caller?.keyId ?? null),
      records.map((r) => r.method),
      records.map((r) => r.route),
      records.map((r) => r.status),
      records.map((r) => r.code),
      records.map((r) => r.durationUs),
      records.map((r) => r.address),
      records.map((r) => r.userAgent),
    ],
  )
}

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

/** The newest first, older than `before` if given. `workspaceId` null asks for those whose workspace is not known. */
export const requestsOf = (
  db: Db,
  workspaceId: string | null,
  filter: { code: string | null; before: { at: Date; id: string } | null; limit: number },
): Promise<RequestRow[]> =>
  db.rows(
    `select id, at, key_id, method, route, status, code, duration_us, host(address) as address, user_agent
     from request_log
     where workspace_id is not distinct from $1 and ($2::text is null or code = $2)
       and ($3::timestamptz is null or (at, id) < ($3, $4::uuid))
     order by at desc, id desc limit $5`,
    [workspaceId, filter.code, filter.before?.at ?? null, filter.before?.id ?? null, filter.limit],
  )

export interface RefusalGroupRow {
  code: string
  count: number
  first_at: Date
  last_at: Date
  keys: string[]
  key_count: number
  addresses: string[]
  address_count: number
}

/** Refusals since a time, by error; of each group its ten busiest keys and addresses. */
export const refusalGroups = (db: Db, workspaceId: string | null, since: Date): Promise<RefusalGroupRow[]> =>
  db.rows(
    `with counted as materialized (
       select code, key_id, address, sum(count) as count, min(first_at) as first_at, max(last_at) as last_at
       from refusal_hours
       where workspace_id is not distinct from $1 and hour >= date_trunc('hour', $2::timestamptz, 'UTC')
         and last_at >= $2
       group by 1, 2, 3
     ), by_key as (
       select code, key_id, row_number() over (partition by code order by sum(count) desc, key_id) as place
       from counted where key_id is not null group by 1, 2
     ), by_address as (
       select code, address, row_number() over (partition by code order by sum(count) desc, address) as place
       from counted where address is not null group by 1, 2
     )
     select c.code, sum(c.count)::bigint as count, min(c.first_at) as first_at, max(c.last_at) as last_at,
       array(select k.key_id::text from by_key k where k.code = c.code and k.place <= 10 order by k.place) as keys,
       count(distinct c.key_id) as key_count,
       array(select host(a.address) from by_address a where a.code = c.code and a.place <= 10 order by a.place)
         as addresses,
       count(distinct c.address) as address_count
     from counted c group by c.code order by count desc, c.code`,
    [workspaceId, since],
  )

/** Partitions for today and the days to come, and none past their retention. */
export async function turnPages(db: Db, today: Date, retentionDays: number): Promise<void> {
  for (const [table, column] of [
    ['request_log', 'at'],
    ['refusal_hours', 'hour'],
  ] as const) {
    await db.rows('select ensure_days($1, $2::date, 8)', [table, today])
    await db.rows('select drop_days($1, $2, $3::date - $4::int)', [table, column, today, retentionDays])
  }
}
