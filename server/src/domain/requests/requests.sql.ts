import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'
import type { RequestRecord } from '../../lib/access-check.ts'
import { type LogBatch, logColumns } from './log-batch.ts'

/** Writes a batch to the log and adds its errors to the hourly counts, in one transaction. */
export async function insertRequests(db: Db, batch: LogBatch): Promise<void> {
  if (batch.size === 0) return
  if (batch.failed.length === 0) return copyRequests(db, batch)
  const refused = batch.failed.map(toErrorCount)
  await db.transaction(async (tx) => {
    await copyRequests(tx, batch)
    await refusalCount.change(tx, { refused })
    await trafficCount.change(tx, { refused })
  })
}

/** Which of these requests are in the log already: a batch may have been written although we got an error. */
export async function existingRequestIds(db: Db, day: number, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db.rows<{ id: string }>(
    'select l.id from request_log l where l.id = any($1::uuid[]) and l.at >= $2 and l.at < $3',
    [ids, startOf(day), startOf(day + 1)],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Copies into the day's partition: PostgreSQL does not support COPY into a table with row-level security. */
async function copyRequests(db: Db, batch: LogBatch): Promise<void> {
  const day = startOf(batch.day).toISOString().slice(0, 10)
  await ensureDay(db, 'request_log', day)
  await db.copy(`request_log_${day.replaceAll('-', '')}`, logColumns, batch.bytes)
}

/** Creates the partitions of a day that was not prepared, so that every request is logged, whatever its time. */
export async function ensureDay(db: Db, table: (typeof dailyTables)[number], day: string): Promise<void> {
  const partition = `${table}_${day.replaceAll('-', '')}`
  const [found] = await db.rows<{ exists: boolean }>('select to_regclass($1) is not null as exists', [partition])
  if (found?.exists) return
  await db.rows(`select ensure_days(name, $1::date, 1) from unnest($2::text[]) as name`, [day, dailyTables])
}

const dailyTables = [
  'request_log',
  'request_errors',
  'request_bodies',
  'refusal_hours',
  'traffic_hours',
  'unauthenticated_minutes',
] as const

const startOf = (day: number): Date => new Date(day * 86_400_000)

const refusalCount = statement(
  { refused: { at: 'timestamptz', workspaceId: 'uuid', code: 'text', keyId: 'uuid', address: 'text' } },
  ({ refused }) => `insert into refusal_hours as h (hour, workspace_id, code, key_id, address, count, first_at, last_at)
     select date_trunc('hour', at, 'UTC'), workspace_id, code, key_id, address, count(*), min(at), max(at)
     from ${refused}
     group by 1, 2, 3, 4, 5 order by 2, 3, 1, 4, 5
     on conflict (workspace_id, code, hour, key_id, address) do update set
       count = h.count + excluded.count,
       first_at = least(h.first_at, excluded.first_at),
       last_at = greatest(h.last_at, excluded.last_at)`,
)

/** Also counted in the traffic of all requests, which includes successful ones. */
const trafficCount = statement(
  { refused: { at: 'timestamptz', workspaceId: 'uuid', keyId: 'uuid', code: 'text' } },
  ({ refused }) => `insert into traffic_hours as h (hour, workspace_id, key_id, code, count)
     select date_trunc('hour', at, 'UTC'), workspace_id, key_id, code, count(*)
     from ${refused}
     group by 1, 2, 3, 4 order by 2, 1, 3, 4
     on conflict (workspace_id, hour, key_id, code) do update set count = h.count + excluded.count`,
)

const toErrorCount = ({ at, caller, code, address }: RequestRecord) => ({
  at,
  workspaceId: caller?.workspaceId ?? null,
  keyId: caller?.keyId ?? null,
  code,
  address,
})

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

// A separate statement for each case: a single one would have a generic plan that uses no index. Rows are ordered by
// workspace first, although there is only one, because PostgreSQL does not infer that from `is null`.
const isOf = (workspaceId: string | null): string =>
  workspaceId === null ? '$1::uuid is null and workspace_id is null' : 'workspace_id = $1'

export interface ApiErrorGroupRow {
  code: string
  count: number
  first_at: Date
  last_at: Date
  keys: string[]
  key_count: number
  addresses: string[]
  address_count: number
}

/** The partial hour at the start comes from the log; the full hours come from the hourly counts. */
const partialHour = `select code, key_id, address, 1, at, at from request_log
         where workspace_id = $1 and code is not null and at >= $2 and at < $3`

/** Of the requests without a workspace, only the first are in the log. Older versions counted them in refusal_hours. */
const unauthenticated = `select code, null, client, count, first_at, last_at from unauthenticated_minutes
         where code is not null and minute > $2::timestamptz - interval '1 minute' and last_at >= $2`

/** API errors since a time by code, each with the ten keys and IP addresses that have the most. */
export const apiErrorGroups = (db: Db, workspaceId: string | null, since: Date): Promise<ApiErrorGroupRow[]> =>
  db.transaction(async (tx) => {
    // With row-level security, PostgreSQL underestimates the rows by a factor of 100 and would sort on disk.
    await tx.rows(`select set_config('enable_sort', 'off', true), set_config('work_mem', '64MB', true)`)
    return tx.rows(
      `with counted as materialized (
       select code, key_id, address, sum(count) as count, min(first_at) as first_at, max(last_at) as last_at
       from (
         select code, key_id, address, count, first_at, last_at from refusal_hours
         where ${isOf(workspaceId)} and hour >= $3
         union all
         ${workspaceId === null ? unauthenticated : partialHour}
       ) as refused
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
       array(select a.address from by_address a where a.code = c.code and a.place <= 10 order by a.place)
         as addresses,
       count(distinct c.address) as address_count
     from counted c group by c.code order by count desc, c.code`,
      [workspaceId, since, new Date(Math.ceil(since.getTime() / 3_600_000) * 3_600_000)],
    )
  })
