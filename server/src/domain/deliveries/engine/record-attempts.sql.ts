import type { Db } from '../../../db/db.ts'
import { withIndexLookups } from '../../../db/planner-settings.ts'
import { statement } from '../../../db/statement.ts'
import type { Trigger } from '../../../lib/first-attempts.ts'
import type { Run } from './retry-policy.ts'

/** What is kept of an attempt. */
export interface AttemptRecord {
  at: Date
  eventId: string
  number: number
  trigger: Trigger
  state: 'delivered' | 'failed' | 'retrying'
  address: string | null
  status: number | null
  error: string | null
  answer: Buffer
  durationUs: number
}

export interface AttemptRow extends AttemptRecord {
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

export interface EndpointStanding {
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
 * failures of the endpoints, and all attempts by the hour: one statement. It does not wait for the disk: what a crash of
 * PostgreSQL undoes here is delivered once more. Endpoints are locked first and in order, so that nobody waits in a circle.
 */
const recording = statement(
  {
    webhookIds: 'uuid[]',
    attempts: {
      eventId: 'uuid',
      webhookId: 'uuid',
      workspaceId: 'uuid',
      eventCreatedAt: 'timestamptz',
      at: 'timestamptz',
      number: 'smallint',
      trigger: 'text',
      state: 'text',
      address: 'text',
      status: 'smallint',
      error: 'text',
      answer: 'bytea',
      durationUs: 'int',
      lease: 'uuid',
      dueAt: 'timestamptz',
      nextLease: 'uuid',
    },
    hours: {
      hour: 'timestamptz',
      workspaceId: 'uuid',
      webhookId: 'uuid',
      succeeded: 'int',
      failed: 'int',
      durations: 'text',
    },
    runs: {
      webhookId: 'uuid',
      leading: 'int',
      succeeded: 'bool',
      longest: 'int',
      trailing: 'int',
      since: 'timestamptz',
      succeededAt: 'timestamptz',
    },
  },
  ({ webhookIds, attempts, hours, runs }) => `with before as materialized (
       select id, enabled, failures from webhooks where id = any(${webhookIds}) order by id for update
     ), attempt as materialized (
       select attempts.* from ${attempts},
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
       select hours.hour, hours.workspace_id, hours.webhook_id, hours.succeeded, hours.failed, hours.durations::int[]
       from ${hours}, (select count(*) from before) as locked
       order by hours.webhook_id, hours.hour
       on conflict (workspace_id, webhook_id, hour) do update set
         succeeded = h.succeeded + excluded.succeeded,
         failed = h.failed + excluded.failed,
         durations = array(
           select coalesce(d.had, 0) + coalesce(d.more, 0)
           from unnest(h.durations, excluded.durations) with ordinality as d(had, more, step) order by d.step)
     )
     update webhooks w set
       failures = case when runs.succeeded then runs.trailing else w.failures + runs.leading end,
       failing_since = case when runs.succeeded then runs.since else coalesce(w.failing_since, runs.since) end,
       last_success_at = greatest(w.last_success_at, runs.succeeded_at)
     from ${runs} join before b on b.id = runs.webhook_id
     where w.id = runs.webhook_id
     returning w.id as "webhookId", w.enabled, w.failures, w.failing_since as "failingSince",
       greatest(b.failures + runs.leading, runs.longest) as longest`,
)

export const recordAttempts = (
  db: Db,
  attempts: readonly AttemptRow[],
  runs: readonly RunRow[],
  hours: readonly HourRow[],
): Promise<EndpointStanding[]> =>
  withIndexLookups(db, (tx) =>
    recording.rows(tx, {
      webhookIds: runs.map(({ webhookId }) => webhookId),
      attempts,
      hours: hours.map((each) => ({ ...each, durations: `{${each.durations.join()}}` })),
      runs,
    }),
  )
