import { bools, byteStrings, ints, smallInts, texts, times, uuids } from '../../../db/array-format.ts'
import type { Db } from '../../../db/db.ts'
import { byKey } from '../../../db/without.ts'
import type { KeptAttempt } from '../reading/attempts.sql.ts'
import type { Run } from './retry-policy.ts'

export interface AttemptRow extends KeptAttempt {
  webhookId: string
  workspaceId: string
  eventCreatedAt: Date
  /** The lease under which it was made; null if a later attempt of this batch says what becomes of the delivery. */
  lease: string | null
  /** For one that goes on: when it may be taken up next, and by whom. */
  dueAt: Date | null
  nextLease: string | null
}

export interface RunRow extends Run {
  webhookId: string
  /** When the run at the end began. */
  since: Date | null
  succeededAt: Date | null
}

export interface Standing {
  webhookId: string
  enabled: boolean
  failures: number
  failingSince: Date | null
  /** The longest run that was seen. */
  longest: number
}

/** The attempts at one endpoint within one hour. */
export interface HourRow {
  hour: Date
  workspaceId: string
  webhookId: string
  succeeded: number
  failed: number
  /** How many took so long, by the steps of `durations.ts`. */
  durations: readonly number[]
}

/**
 * Records attempts, does with their deliveries what was decided, as far as the leases are still ours, and counts the
 * failures of the endpoints, and all attempts by the hour: one statement. It does not wait for the disk: what a crash of PostgreSQL undoes here is
 * delivered once more. Endpoints are locked first and in order, so that nobody waits in a circle.
 */
const recording = `with before as materialized (
       select id, enabled, failures from webhooks where id = any($17::uuid[]) order by id for update
     ), attempt as materialized (
       select o.* from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::timestamptz[], $6::smallint[],
           $7::text[], $8::text[], $9::text[], $10::smallint[], $11::text[], $12::bytea[], $13::int[], $14::uuid[],
           $15::timestamptz[], $16::uuid[])
         as o(event_id, webhook_id, workspace_id, event_created_at, at, number, trigger, state, address, status, error,
           answer, duration_us, lease, due_at, next_lease),
         (select count(*), set_config('synchronous_commit', 'off', true) from before) as locked
     ), finished as (
       delete from deliveries d using attempt o
       where o.due_at is null and d.webhook_id = o.webhook_id and d.event_id = o.event_id and d.lease = o.lease
     ), moved as (
       update deliveries d set attempts = o.number, trigger = 'retry', lease = o.next_lease,
         due_at = case when b.enabled then o.due_at else 'infinity' end
       from attempt o join before b on b.id = o.webhook_id
       where o.due_at is not null and d.webhook_id = o.webhook_id and d.event_id = o.event_id and d.lease = o.lease
     ), kept as (
       insert into delivery_attempts (at, event_id, webhook_id, workspace_id, event_created_at, number, trigger, state,
         address, status, error, answer, duration_us)
       select at, event_id, webhook_id, workspace_id, event_created_at, number, trigger, state, address, status, error,
         answer, duration_us
       from attempt
     ), counted as (
       insert into delivery_hours as h (hour, workspace_id, webhook_id, succeeded, failed, durations)
       select c.hour, c.workspace_id, c.webhook_id, c.succeeded, c.failed, c.durations::int[]
       from unnest($24::timestamptz[], $25::uuid[], $26::uuid[], $27::int[], $28::int[], $29::text[])
           as c(hour, workspace_id, webhook_id, succeeded, failed, durations),
         (select count(*) from before) as locked
       order by c.webhook_id, c.hour
       on conflict (workspace_id, webhook_id, hour) do update set
         succeeded = h.succeeded + excluded.succeeded,
         failed = h.failed + excluded.failed,
         durations = array(
           select coalesce(d.had, 0) + coalesce(d.more, 0)
           from unnest(h.durations, excluded.durations) with ordinality as d(had, more, step) order by d.step)
     )
     update webhooks w set
       failures = case when r.succeeded then r.after_success else w.failures + r.before_success end,
       failing_since = case when r.succeeded then r.since else coalesce(w.failing_since, r.since) end,
       last_success_at = greatest(w.last_success_at, r.succeeded_at)
     from unnest($17::uuid[], $18::int[], $19::bool[], $20::int[], $21::int[], $22::timestamptz[], $23::timestamptz[])
         as r(id, before_success, succeeded, longest, after_success, since, succeeded_at)
       join before b on b.id = r.id
     where w.id = r.id
     returning w.id as "webhookId", w.enabled, w.failures, w.failing_since as "failingSince",
       greatest(b.failures + r.before_success, r.longest) as longest`

export const recordAttempts = (
  db: Db,
  attempts: readonly AttemptRow[],
  runs: readonly RunRow[],
  hours: readonly HourRow[],
): Promise<Standing[]> =>
  byKey(db, (tx) =>
    tx.rows(recording, [
      uuids(attempts.map((each) => each.eventId)),
      uuids(attempts.map((each) => each.webhookId)),
      uuids(attempts.map((each) => each.workspaceId)),
      times(attempts.map((each) => each.eventCreatedAt)),
      times(attempts.map((each) => each.at)),
      smallInts(attempts.map((each) => each.number)),
      texts(attempts.map((each) => each.trigger)),
      texts(attempts.map((each) => each.state)),
      texts(attempts.map((each) => each.address)),
      smallInts(attempts.map((each) => each.status)),
      texts(attempts.map((each) => each.error)),
      byteStrings(attempts.map((each) => each.answer)),
      ints(attempts.map((each) => each.durationUs)),
      uuids(attempts.map((each) => each.lease)),
      times(attempts.map((each) => each.dueAt)),
      uuids(attempts.map((each) => each.nextLease)),
      uuids(runs.map((each) => each.webhookId)),
      ints(runs.map((each) => each.leading)),
      bools(runs.map((each) => each.succeeded)),
      ints(runs.map((each) => each.longest)),
      ints(runs.map((each) => each.trailing)),
      times(runs.map((each) => each.since)),
      times(runs.map((each) => each.succeededAt)),
      times(hours.map((each) => each.hour)),
      uuids(hours.map((each) => each.workspaceId)),
      uuids(hours.map((each) => each.webhookId)),
      ints(hours.map((each) => each.succeeded)),
      ints(hours.map((each) => each.failed)),
      texts(hours.map((each) => `{${each.durations.join()}}`)),
    ]),
  )
