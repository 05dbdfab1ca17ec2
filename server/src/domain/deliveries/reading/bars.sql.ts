import type { Db } from '../../../db/db.ts'
import { withOrderedLookups } from '../../../db/planner-settings.ts'
import { statement } from '../../../db/statement.ts'
import type { HourCounts } from './statistics.sql.ts'

export interface BarsQuery {
  workspaceId: string
  /** Null: all endpoints of the workspace. */
  webhookIds: readonly string[] | null
  /** When each bar begins, and when the last one ends. */
  times: readonly Date[]
}

const parameters = { workspaceId: 'uuid', webhookIds: 'uuid[]', times: 'timestamptz[]' } as const

/**
 * The rows of a table in the range, for each endpoint by its index. `offset 0` keeps PostgreSQL from joining the rows of the
 * whole workspace.
 */
const rowsOf = (
  { workspaceId, webhookIds, times }: Record<keyof typeof parameters, string>,
  { from, at, where = '' }: { from: string; at: string; where?: string },
): string => `webhooks w cross join lateral (
       select * from ${from} r where r.workspace_id = ${workspaceId} and r.webhook_id = w.id ${where}
         and r.${at} >= (${times}::timestamptz[])[1] and r.${at} < (${times}::timestamptz[])[cardinality(${times}::timestamptz[])]
       offset 0) as r
     where w.workspace_id = ${workspaceId} and w.deleted_at is null
       and (${webhookIds}::uuid[] is null or w.id = any(${webhookIds}))`

/** The index of the bar, from 0. */
const barOf = (at: string, times: string): string => `width_bucket(r.${at}, ${times}::timestamptz[]) - 1 as bar`

/** Attempts by endpoint and hour, by the primary key: a row for each hour. */
const hours = statement(
  parameters,
  (places) => `select ${barOf('hour', places.times)}, r.succeeded, r.failed, r.durations
     from ${rowsOf(places, { from: 'delivery_hours', at: 'hour' })}`,
)
export const hoursByBar = (db: Db, query: BarsQuery) =>
  withOrderedLookups(db, (tx) => hours.rows<{ bar: number } & Omit<HourCounts, 'hour' | 'webhookId'>>(tx, query))

/** The attempts themselves, for a short time. Reads each of them by the index by endpoint. */
const attempts = statement(
  parameters,
  (places) => `select ${barOf('at', places.times)},
       count(*) filter (where r.state = 'delivered')::int as succeeded,
       count(*) filter (where r.state <> 'delivered')::int as failed, array_agg(r.duration_us) as "durationsUs"
     from ${rowsOf(places, { from: 'delivery_attempts', at: 'at' })} group by 1`,
)
export const attemptsByBar = (db: Db, query: BarsQuery) =>
  withOrderedLookups(db, (tx) =>
    attempts.rows<{ bar: number; succeeded: number; failed: number; durationsUs: number[] }>(tx, query),
  )

/** How many deliveries failed permanently in each bar, by the partial index of failures. Counts at most `limit`. */
const failures = statement(
  { ...parameters, limit: 'int' },
  ({ limit, ...places }) => `select ${barOf('at', places.times)}, count(*)::int as count
     from (select r.at from ${rowsOf(places, { from: 'delivery_attempts', at: 'at', where: `and r.state = 'failed'` })}
       limit ${limit}) as r
     group by 1`,
)
export const failuresByBar = (db: Db, query: BarsQuery & { limit: number }) =>
  withOrderedLookups(db, (tx) => failures.rows<{ bar: number; count: number }>(tx, query))
