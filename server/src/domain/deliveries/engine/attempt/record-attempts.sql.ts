import { type BatchId, batchId, newBatchSql } from '../../../../db/batch-writer.ts'
import type { Db } from '../../../../db/db.ts'
import { oneWithKeyLookups } from '../../../../db/planner-settings.ts'
import { statement } from '../../../../db/statement.ts'
import type { Trigger } from '../first-attempts.ts'
import { planVisitsSql } from '../visits.sql.ts'
import { longestIndex } from './durations.ts'
import { type FailureRun, failuresBeforePacing, pacedGapMs, unpacedFailuresMax } from './retry-policy.ts'

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
  /** Null if there was no response, and once a person is erased. */
  responseHeaders: string | null
  /** See `signaturesIn`. */
  signatures: string
  durationUs: number
}

export interface AttemptRow extends AttemptRecord {
  webhookId: string
  workspaceId: string
  eventCreatedAt: Date
  /** The lease of the attempt. Null if the batch has a later attempt of the delivery, which then updates the delivery. */
  lease: string | null
  /** When the next attempt is due; null if the delivery is finished. */
  dueAt: Date | null
  /** Set if this process keeps the lease for an immediate retry. */
  nextLease: string | null
  endedAt: Date
  /** The endpoint's `secret_changed_at` when the attempt was signed. */
  secretChangedAt: Date | null
  /** A test event: it is attempted once, whatever happens to the secret. */
  isTest: boolean
}

/** An attempt in a batch. `lastIndex` is the index of the delivery's last attempt, which updates the delivery. */
export type BatchedAttempt = AttemptRow & { lastIndex: number }

export interface FailureRunRow extends FailureRun {
  webhookId: string
  /** When the current run of failures began. */
  since: Date | null
  succeededAt: Date | null
  /** When the last attempt of the batch ended, test events included. */
  endedAt: Date
  /** The batch contains the attempt that had the endpoint's turn. */
  hadTurn: boolean
  /** That attempt is among the leading failures. */
  failedTurn: boolean
}

/** An endpoint after its attempts were recorded. */
export interface EndpointHealth {
  webhookId: string
  enabled: boolean
  failures: number
  failingSince: Date | null
}

/** The attempts at one endpoint within one hour. */
export interface HourRow {
  hour: Date
  workspaceId: string
  webhookId: string
  succeeded: number
  failed: number
  /** A histogram as `durations.ts` describes it. */
  durations: readonly number[]
}

const attemptColumns = {
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
  responseHeaders: 'text',
  signatures: 'text',
  durationUs: 'int',
  lease: 'uuid',
  dueAt: 'timestamptz',
  nextLease: 'uuid',
  endedAt: 'timestamptz',
  secretChangedAt: 'timestamptz',
  isTest: 'bool',
  lastIndex: 'int',
} as const

const hourColumns = {
  hour: 'timestamptz',
  workspaceId: 'uuid',
  webhookId: 'uuid',
  succeeded: 'int',
  failed: 'int',
  durations: 'text',
} as const

/** Deletes the deliveries of attempts that have ended. */
const finishSql = (attempts: string): string => `
     finished as (
       delete from deliveries d using ${attempts} o
       where d.webhook_id = o.webhook_id and d.event_id = o.event_id and d.lease = o.lease
       returning d.replay_id, o.state, o.last_index
     )`

/**
 * Inserts the attempts. The response is stored if the delivery was found with its lease. Otherwise the person that its event is
 * about may have been erased: an erasure deletes the deliveries before it removes the responses, and does not skip a locked
 * delivery.
 */
const insertSql = (found: string): string => `
     inserted as (
       insert into delivery_attempts (at, event_id, webhook_id, workspace_id, event_created_at, number, trigger, state,
         address, status, error, answer, response_headers, signatures, duration_us)
       select at, event_id, webhook_id, workspace_id, event_created_at, number, trigger, state, address, status, error,
         case when is_found then answer else '' end, case when is_found then response_headers end, signatures, duration_us
       from (select *, last_index in (select last_index from ${found}) as is_found from attempt) as attempt
     )`

/** The attempts, by their `lastIndex`, whose responses were not stored. */
const missingSql = (found: string): string => `
     select distinct last_index from attempt
     where (answer <> '' or response_headers is not null) and last_index not in (select last_index from ${found})`

/** Counts the attempts by hour, once the endpoints in `locked` are locked. */
const countSql = (hours: string, locked: string): string => `
     counted as (
       insert into delivery_hours as h (hour, workspace_id, webhook_id, succeeded, failed, durations)
       select hours.hour, hours.workspace_id, hours.webhook_id, hours.succeeded, hours.failed, hours.durations::int[]
       from new_batch, (select count(*) from ${locked}) as locked, ${hours}
       order by hours.webhook_id, hours.hour
       on conflict (workspace_id, webhook_id, hour) do update set
         succeeded = h.succeeded + excluded.succeeded,
         failed = h.failed + excluded.failed,
         durations = array(
           select case d.step when ${longestIndex + 1} then greatest(d.had, d.more)
             else coalesce(d.had, 0) + coalesce(d.more, 0) end
           from unnest(h.durations, excluded.durations) with ordinality as d(had, more, step) order by d.step)
     )`

/**
 * Records a batch in which each attempt succeeded and is the only one of its delivery, if no endpoint has failures or an open
 * replay: nearly every batch, so it does nothing else. An endpoint is only locked if its `last_success_at` is a second old.
 */
const recordingSuccesses = statement(
  {
    ...batchId,
    webhookIds: 'uuid[]',
    attempts: attemptColumns,
    hours: hourColumns,
    runs: { webhookId: 'uuid', succeededAt: 'timestamptz' },
  },
  ({ webhookIds, attempts, hours, runs, ...id }) => `with special as materialized (
       select from webhooks where id = any(${webhookIds}) and (failures > 0 or next_attempt_at is not null)
       union all
       select from replays where webhook_id = any(${webhookIds}) and ended_at is null
       limit 1
     ), new_batch as (${newBatchSql(id, 'not exists (select from special)')}
     ), touched as materialized (
       select w.id, runs.succeeded_at from new_batch, ${runs} join webhooks w on w.id = runs.webhook_id
       where w.last_success_at is null or w.last_success_at < runs.succeeded_at - interval '1 second'
       order by w.id for no key update of w
     ), changed as (
       update webhooks w set last_success_at = touched.succeeded_at from touched where w.id = touched.id
     ), attempt as materialized (
       select attempts.* from new_batch, (select count(*) from touched) as locked, ${attempts}
     ), ${finishSql('attempt')}, ${insertSql('finished')}, ${countSql(String(hours), 'touched')}
     select exists (select from special) as "isSpecial", array(${missingSql('finished')}) as missing`,
)

/**
 * Records a batch, in one statement, because a process that is frozen must not hold the locks of endpoints: inserts
 * attempts, finishes or reschedules their deliveries if this process still has the lease, updates the failures of their
 * endpoints, and counts the attempts by hour. A failed attempt that was signed before the secret was replaced is due
 * again immediately, the last one of a schedule with a new schedule: the receiver may only know the new secret. At a
 * disabled endpoint it is due as soon as that is enabled. The commit waits for the disk: if PostgreSQL crashed and lost
 * it, the deliveries would be made again.
 *
 * Endpoints are locked first and in order, to prevent deadlocks. Everything depends on `new_batch`: for a batch that is
 * recorded already, the statement only returns the endpoints.
 */
const recording = statement(
  {
    ...batchId,
    webhookIds: 'uuid[]',
    attempts: attemptColumns,
    hours: hourColumns,
    runs: {
      webhookId: 'uuid',
      leading: 'int',
      succeeded: 'bool',
      trailing: 'int',
      since: 'timestamptz',
      succeededAt: 'timestamptz',
      endedAt: 'timestamptz',
      hadTurn: 'bool',
      failedTurn: 'bool',
    },
  },
  ({ webhookIds, attempts, hours, runs, ...id }) => `with new_batch as (${newBatchSql(id)}
     ), before as materialized (
       select id, enabled, failures, failing_since, secret_changed_at, next_attempt_at from webhooks
       -- Evaluated first, so that a repetition waits before it locks endpoints.
       where (select count(*) from new_batch) >= 0 and id = any(${webhookIds}) order by id for update
     ), attempt as materialized (
       select attempts.*, b.enabled, attempts.state <> 'delivered' and not attempts.is_test
           and attempts.next_lease is null
           and b.secret_changed_at is distinct from attempts.secret_changed_at as is_due_again
       from new_batch, (select count(*) from before) as locked, ${attempts}
       left join before b on b.id = attempts.webhook_id
     ), ${finishSql('(select * from attempt where due_at is null and is_due_again is not true)')}, replayed as (
       update replays r set delivered = r.delivered + f.delivered, failed = r.failed + f.failed
       from (select replay_id, (count(*) filter (where state = 'delivered'))::int as delivered,
           (count(*) filter (where state <> 'delivered'))::int as failed
         from finished where replay_id is not null group by replay_id) as f
       where r.id = f.replay_id
     ), moved as (
       update deliveries d set attempts = case when o.due_at is null then 0 else o.number end, trigger = 'retry',
         lease = o.next_lease,
         due_at = case when o.is_due_again or (not o.enabled and o.next_lease is null) then o.ended_at else o.due_at end
       from attempt o
       where (o.due_at is not null or o.is_due_again)
         and d.webhook_id = o.webhook_id and d.event_id = o.event_id and d.lease = o.lease
       returning d.webhook_id, d.workspace_id, d.due_at, o.last_index
     ), found as materialized (
       select last_index from finished union all select last_index from moved
     ), ${insertSql('found')}, ${countSql(String(hours), 'before')}, changed as (
     update webhooks w set
       failures = n.failures,
       next_attempt_at = case when not w.enabled or n.failures < ${failuresBeforePacing} then null
         when runs.had_turn or w.next_attempt_at is null then n.paced_until
         else greatest(w.next_attempt_at, n.paced_until) end,
       failing_since = case when runs.succeeded then runs.since else coalesce(w.failing_since, runs.since) end,
       last_success_at = greatest(w.last_success_at, runs.succeeded_at)
     from new_batch cross join ${runs} join before b on b.id = runs.webhook_id
     cross join lateral (
       select runs.ended_at + interval '${pacedGapMs} milliseconds' as paced_until,
         case when runs.succeeded then least(runs.trailing, ${unpacedFailuresMax})
           else greatest(b.failures, least(b.failures + runs.leading - runs.failed_turn::int, ${unpacedFailuresMax}))
             + runs.failed_turn::int end as failures) as n
     where w.id = runs.webhook_id
     returning w.id, w.workspace_id, w.enabled, w.failures, w.failing_since,
       -- The time of the next turn; or, when the pacing ends, now.
       coalesce(w.next_attempt_at, case when b.next_attempt_at is not null then runs.ended_at end) as turn_at
     ), next as (
       select webhook_id, workspace_id, due_at from moved
       union all
       select id, workspace_id, turn_at from changed where turn_at is not null
     ), new_visits as (${planVisitsSql('next')}
     )
     select id as "webhookId", enabled, failures, failing_since as "failingSince", null::int[] as missing from changed
     union all
     select id, enabled, failures, failing_since, null from before where not exists (select from new_batch)
     union all
     select null, null, null, null, array(${missingSql('found')})`,
)

export interface Recorded {
  endpoints: EndpointHealth[]
  /** The attempts, by `lastIndex`, whose delivery does not have their lease any more. Their responses are not stored. */
  missing: readonly number[]
}

export interface RecordedBatch {
  attempts: readonly BatchedAttempt[]
  runs: readonly FailureRunRow[]
  hours: readonly HourRow[]
}

/** Returns null if an endpoint has failures or an open replay. Then nothing was recorded. */
export async function recordSuccesses(
  db: Db,
  id: BatchId,
  { attempts, runs, hours }: RecordedBatch,
): Promise<Recorded | null> {
  const row = await oneWithKeyLookups(db, (tx) =>
    recordingSuccesses.first<{ isSpecial: boolean; missing: number[] }>(tx, {
      ...id,
      webhookIds: runs.map(({ webhookId }) => webhookId),
      attempts,
      hours: hours.map(toHour),
      runs,
    }),
  )
  return row && !row.isSpecial ? { endpoints: [], missing: row.missing } : null
}

export async function recordAttempts(db: Db, id: BatchId, { attempts, runs, hours }: RecordedBatch): Promise<Recorded> {
  type Row = (EndpointHealth & { missing: null }) | { webhookId: null; missing: number[] }
  const rows = await oneWithKeyLookups(db, (tx) =>
    recording.rows<Row>(tx, {
      ...id,
      webhookIds: runs.map(({ webhookId }) => webhookId),
      attempts,
      hours: hours.map(toHour),
      runs,
    }),
  )
  const endpoints = rows.flatMap(({ missing: _, ...row }) => (row.webhookId === null ? [] : [row]))
  return { endpoints, missing: rows.flatMap(({ missing }) => missing ?? []) }
}

const toHour = (hour: HourRow) => ({ ...hour, durations: `{${hour.durations.join()}}` })

const storing = statement(
  {
    responses: {
      at: 'timestamptz',
      eventId: 'uuid',
      webhookId: 'uuid',
      eventCreatedAt: 'timestamptz',
      number: 'smallint',
      answer: 'bytea',
      responseHeaders: 'text',
    },
  },
  ({ responses }) => `with kept as materialized (
       select responses.* from ${responses} cross join lateral (
         select from events where id = responses.event_id and created_at = responses.event_created_at
         limit 1 for key share skip locked) as e
     )
     update delivery_attempts a set answer = kept.answer, response_headers = kept.response_headers from kept
     where a.event_id = kept.event_id and a.at = kept.at and a.webhook_id = kept.webhook_id and a.number = kept.number`,
)

/**
 * Stores the responses of attempts whose events exist. The events are locked, so that an erasure waits for it and then
 * removes the responses. A delivery that is being erased is skipped.
 */
export const storeResponses = (db: Db, responses: readonly AttemptRow[]): Promise<number> =>
  oneWithKeyLookups(db, (tx) => storing.change(tx, { responses }))
