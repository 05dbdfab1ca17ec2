/** What the process that runs a replay reads and changes. */
import type { ReplayCoverage, ReplayState } from '@parley/contract/replay'
import type { Db } from '../../../db/db.ts'
import { withOrderedLookups } from '../../../db/planner-settings.ts'
import { type Statement, statement } from '../../../db/statement.ts'
import {
  type Coverage,
  coverageParameters,
  coverageValues,
  coveredSql,
  firstId,
  lastId,
  type Position,
  perCoverage,
  reachSql,
} from './covered.sql.ts'

/** A replay whose next step is due, owned by this process. */
export interface TakenReplay {
  id: string
  workspaceId: string
  webhookId: string
  state: ReplayState
  covers: ReplayCoverage
  types: string[] | null
  subscribed: string[]
  senders: string[] | null
  rate: number
  isCounted: boolean
  /** The events that it was created after are all committed. */
  isCommitted: boolean
  from: Position
  /** It may send events up to here: those that are counted, and committed. */
  to: Position
  /** It has come to the end of its time. */
  isAtEnd: boolean
  isDisabled: boolean
  isFailing: boolean
  isSuspended: boolean
  /** The process that owned it before; null if there was none. */
  before: string | null
}

/** Longer than any transaction may take. Its events are committed then, or never. */
const committedAfter = `interval '60 seconds'`

const taking = statement(
  { owner: 'uuid', now: 'timestamptz', ownedUntil: 'timestamptz', nextAt: 'timestamptz', limit: 'int' },
  ({ owner, now, ownedUntil, nextAt, limit }) => `with due as materialized (
       select r.id, r.owner as before, r.created_at - ${committedAfter} as committed_before,
         pg_snapshot_xmin(pg_current_snapshot()) > r.created_in or r.created_at < ${now} - ${committedAfter} as is_committed
       from replays r
       where r.ended_at is null and r.step_at <= ${now}
         and (r.owner = ${owner} or r.owner is null or r.owned_until <= ${now})
       order by r.step_at limit ${limit} for update of r skip locked
     )
     update replays r set owner = ${owner}, owned_until = ${ownedUntil}, step_at = ${nextAt}
     from due, webhooks w, workspaces s
     where r.id = due.id and w.id = r.webhook_id and s.id = r.workspace_id
     returning r.id, r.workspace_id as "workspaceId", r.webhook_id as "webhookId", r.state, r.covers,
       r.event_types as types, w.events as subscribed, r.senders, r.rate, r.is_counted as "isCounted",
       due.is_committed as "isCommitted", r.position_at::text as "fromAt", r.position_id as "fromId",
       least(case when r.is_counted then r.until else r.counted_at end,
         case when not due.is_committed then due.committed_before end)::text as "toAt",
       case when r.is_counted or not (due.is_committed or r.counted_at < due.committed_before) then '${lastId}'::uuid
         else r.counted_id end as "toId",
       r.is_counted and due.is_committed and (r.position_at, r.position_id) = (r.until, '${lastId}'::uuid) as "isAtEnd",
       not w.enabled as "isDisabled", w.next_attempt_at is not null as "isFailing",
       s.suspended_at is not null as "isSuspended", due.before`,
)

/** Takes replays whose step is due, or renews the lease on them. Others run those of which another process has the lease. */
export async function takeReplays(
  db: Db,
  input: { owner: string; now: Date; ownedUntil: Date; nextAt: Date; limit: number },
): Promise<TakenReplay[]> {
  type Row = Omit<TakenReplay, 'from' | 'to'> & { fromAt: string; fromId: string; toAt: string; toId: string }
  const rows = await taking.rows<Row>(db, input)
  return rows.map(({ fromAt, fromId, toAt, toId, ...row }) => ({
    ...row,
    from: { at: fromAt, id: fromId },
    to: { at: toAt, id: toId },
  }))
}

/** A process that stops returns its replays, so that another one continues immediately. */
export const returnReplays = (db: Db, owner: string, now: Date): Promise<number> =>
  db.change('update replays set owner = null, owned_until = null, step_at = $2 where owner = $1 and ended_at is null', [
    owner,
    now,
  ])

/** A delivery of a replay that this process has leased. */
export interface LeasedRow {
  eventId: string
  eventCreatedAt: Date
  type: string | null
  /** Null if its event is past retention. */
  body: Buffer | null
}

/** The deliveries with which a replay begins: whose lease, and until when. Without a token, when they are due. */
export interface ReplayLease {
  token: string | null
  until: Date
}

const feedParameters = {
  ...coverageParameters,
  replayId: 'uuid',
  take: 'int',
  lease: 'uuid',
  leaseUntil: 'timestamptz',
  now: 'timestamptz',
} as const

/**
 * Adds deliveries for the next covered events, and leases them to this process. One that is open already becomes part of the
 * replay: with a new schedule, unless an attempt of it is in progress. If it is part of another replay, it leaves that one,
 * unless that one is just sending it.
 */
const feeding = perCoverage(
  (covers, hasSenders): Statement<typeof feedParameters> =>
    statement(feedParameters, (places) => {
      const { webhookId, workspaceId, replayId, take, lease, leaseUntil, now } = places
      // Not one that waits for others of its conversation.
      const isFree = `((d.lease is null or d.due_at <= ${now}) and (d.conversation is null or d.due_at < 'infinity'))`
      return `with ${reachSql(places)}
     , matched as materialized (
       select e.* from reach cross join lateral (
         select e.id, e.created_at, e.type, e.body from events e where ${coveredSql(covers, hasSenders, places)}
         order by e.created_at, e.id limit ${take}) as e
     ), fed as (
       insert into deliveries as d (event_id, webhook_id, workspace_id, event_created_at, trigger, due_at, lease, replay_id,
         added_by_replay)
       select id, ${webhookId}, ${workspaceId}, created_at, 'replay', ${leaseUntil}, ${lease}, ${replayId}, true from matched
       on conflict (webhook_id, event_id) do update set
         replay_id = case when ${isFree} or d.replay_id is null then excluded.replay_id else d.replay_id end,
         attempts = case when ${isFree} then 0 else d.attempts end,
         trigger = case when ${isFree} then excluded.trigger else d.trigger end,
         lease = case when ${isFree} then excluded.lease else d.lease end,
         due_at = case when ${isFree} then excluded.due_at else d.due_at end
       returning d.event_id, d.lease
     )
     select reach.created_at::text as "reachAt", reach.id as "reachId", reach.more, m.id as "eventId",
       m.created_at as "eventCreatedAt", m.created_at::text as at, m.type, m.body, f.lease = ${lease} as "isOurs"
     from reach left join matched m on true left join fed f on f.event_id = m.id
     order by m.created_at, m.id`
    }),
)

export interface Fed {
  /** All that were added, and those of them that are leased to this process. */
  added: number
  leased: LeasedRow[]
  reached: Position
  /** False at the end of the range. */
  more: boolean
}

/** Call it in a transaction that then calls `savePosition`. */
export async function feedNext(
  tx: Db,
  coverage: Coverage,
  input: { replayId: string; scan: number; take: number; now: Date; lease: ReplayLease },
): Promise<Fed> {
  type Row = LeasedRow & {
    reachAt: string
    reachId: string
    more: boolean
    eventId: string | null
    at: string
    isOurs: boolean | null
  }
  const { replayId, scan, take, now, lease } = input
  const values = { replayId, take, now, lease: lease.token, leaseUntil: lease.until }
  const rows = await withOrderedLookups(tx, (within) =>
    feeding(coverage).rows<Row>(within, { ...coverageValues(coverage, scan), ...values }),
  )
  const found = rows.filter((row) => row.eventId !== null)
  const leased = found.flatMap(({ isOurs, eventId, eventCreatedAt, type, body }) =>
    isOurs ? [{ eventId, eventCreatedAt, type, body }] : [],
  )
  const [last, reach] = [found.at(-1), rows[0]]
  if (!reach) throw new Error('a part of the range has at least one row')
  const isCut = found.length === take && last
  const reached = isCut ? { at: last.at, id: last.eventId } : { at: reach.reachAt, id: reach.reachId }
  return { added: found.length, leased, reached, more: reach.more || Boolean(isCut) }
}

/** False if this process does not own the replay any more, or it was cancelled. Then the transaction must not commit. */
export const savePosition = async (tx: Db, id: string, owner: string, { at, id: eventId }: Position) =>
  (await tx.change(
    // A step that may not send yet what was created last reaches less far than its start.
    `update replays set
       position_at = case when (position_at, position_id) < ($3::timestamptz, $4::uuid) then $3::timestamptz else position_at end,
       position_id = case when (position_at, position_id) < ($3::timestamptz, $4::uuid) then $4::uuid else position_id end
     where id = $1 and owner = $2 and ended_at is null and state = 'running'`,
    [id, owner, at, eventId],
  )) === 1

export const planStep = (db: Db, id: string, owner: string, at: Date): Promise<number> =>
  db.change('update replays set step_at = $3 where id = $1 and owner = $2 and ended_at is null', [id, owner, at])

const reclaiming = statement(
  {
    replayId: 'uuid',
    webhookId: 'uuid',
    now: 'timestamptz',
    lease: 'uuid',
    leaseUntil: 'timestamptz',
    isTakenOver: 'bool',
    limit: 'int',
  },
  ({ replayId, webhookId, now, lease, leaseUntil, isTakenOver, limit }) => `with found as materialized (
       select event_id from deliveries
       where replay_id = ${replayId} and trigger = 'replay'
         and (due_at <= ${now} or (${isTakenOver} and lease <> ${lease}))
       order by event_id limit ${limit} for update skip locked
     ), leased as (
       update deliveries d set lease = ${lease}, due_at = ${leaseUntil} from found
       where d.webhook_id = ${webhookId} and d.event_id = found.event_id
       returning d.event_id, d.event_created_at
     )
     select l.event_id as "eventId", l.event_created_at as "eventCreatedAt", e.type, e.body
     from leased l left join lateral (
       select type, body from events where id = l.event_id and created_at = l.event_created_at limit 1) as e on true
     order by l.event_created_at, l.event_id`,
)

/**
 * Leases deliveries of a replay that are due, not attempted, and that no worker has: released ones, and those whose lease has ended.
 * If the process that ran the replay is gone (`isTakenOver`), also those that it had.
 */
export const reclaim = (
  db: Db,
  input: {
    replayId: string
    webhookId: string
    now: Date
    lease: string
    leaseUntil: Date
    isTakenOver: boolean
    limit: number
  },
): Promise<LeasedRow[]> => withOrderedLookups(db, (tx) => reclaiming.rows(tx, input))

export const hasUnattempted = async (db: Db, replayId: string): Promise<boolean> =>
  (await db.first(`select 1 as one from deliveries where replay_id = $1 and trigger = 'replay' limit 1`, [
    replayId,
  ])) !== undefined

/** Completes a replay that has sent everything, when nothing of it is open. What could not be sent leaves the total. */
export const complete = (
  db: Db,
  id: string,
  owner: string,
  now: Date,
): Promise<{ total: number; delivered: number; failed: number } | undefined> =>
  db.first(
    `update replays r set state = 'completed', ended_at = $3, total = r.delivered + r.failed
     where r.id = $1 and r.owner = $2 and r.state = 'running'
       and not exists (select from deliveries d where d.replay_id = r.id)
     returning r.total, r.delivered, r.failed`,
    [id, owner, now],
  )

const dropping = statement(
  {
    replayId: 'uuid',
    webhookId: 'uuid',
    now: 'timestamptz',
    lease: 'uuid',
    eventIds: 'uuid[]',
    limit: 'int',
  },
  ({ replayId, webhookId, now, lease, eventIds, limit }) => `with found as materialized (
       select event_id, added_by_replay from deliveries
       where replay_id = ${replayId}
         and (lease is null or due_at <= ${now} or (lease = ${lease} and event_id = any(${eventIds})))
       order by trigger, event_id limit ${limit} for update skip locked
     ), dropped as (
       delete from deliveries d using found f
       where f.added_by_replay and d.webhook_id = ${webhookId} and d.event_id = f.event_id
       returning 1
     ), kept as (
       update deliveries d set replay_id = null, lease = null,
         due_at = case when d.trigger = 'replay' then ${now} else d.due_at end,
         trigger = case when d.trigger = 'replay' then 'retry' else d.trigger end
       from found f
       where f.added_by_replay is not true and d.webhook_id = ${webhookId} and d.event_id = f.event_id
       returning 1
     )
     select (select count(*)::int from dropped) as dropped, (select count(*)::int from kept) as kept`,
)

/**
 * Drops deliveries that a cancelled replay has added, except those of which an attempt is in progress. Those that were open
 * before continue without it. `eventIds` are leased to this process and will not be attempted.
 */
export const dropCancelled = async (
  db: Db,
  input: { replayId: string; webhookId: string; now: Date; lease: string; eventIds: readonly string[]; limit: number },
): Promise<{ dropped: number; kept: number }> =>
  (await withOrderedLookups(db, (tx) => dropping.first<{ dropped: number; kept: number }>(tx, input))) ?? {
    dropped: 0,
    kept: 0,
  }

/** Ends a cancelled replay when nothing of it is open. */
export const endCancelled = async (db: Db, id: string, owner: string, now: Date): Promise<boolean> =>
  (await db.change(
    `update replays r set ended_at = $3 where r.id = $1 and r.owner = $2 and r.state = 'cancelled'
       and not exists (select from deliveries d where d.replay_id = r.id)`,
    [id, owner, now],
  )) === 1

/** Whether a replay has not begun yet: no other process makes first attempts of it. */
export const isAtStart = ({ from, before }: TakenReplay): boolean => from.id === firstId && before === null
