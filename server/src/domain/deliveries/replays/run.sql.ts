/** What the process that runs a replay reads and changes. */
import type { ReplayCoverage, ReplayState } from '@parley/contract/replay'
import type { Db } from '../../../db/db.ts'
import { statement } from '../../../db/statement.ts'
import type { LeasedRow } from './add.sql.ts'
import { firstId, lastId, type Position, positionSql } from './covered.sql.ts'

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
  /** It may send events up to here: they are counted and committed. */
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

/**
 * Takes replays whose step is due, or renews the lease on them. Skips replays that another process has leased, and
 * replays to endpoints in `except`.
 */
export const takeReplays = statement(
  {
    owner: 'uuid',
    now: 'timestamptz',
    ownedUntil: 'timestamptz',
    nextAt: 'timestamptz',
    except: 'uuid[]',
    limit: 'int',
  },
  ({ owner, now, ownedUntil, nextAt, except, limit }) => `with due as materialized (
       select r.id, r.owner as before, r.created_at - ${committedAfter} as committed_before,
         pg_snapshot_xmin(pg_current_snapshot()) > r.created_in or r.created_at < ${now} - ${committedAfter} as is_committed
       from replays r
       where r.ended_at is null and r.step_at <= ${now}
         and (r.owner = ${owner} or r.owner is null or r.owned_until <= ${now})
         and (r.state <> 'running' or r.webhook_id <> all(${except}))
       order by r.step_at limit ${limit} for update of r skip locked
     )
     update replays r set owner = ${owner}, owned_until = ${ownedUntil}, step_at = ${nextAt}
     from due, webhooks w, workspaces s
     where r.id = due.id and w.id = r.webhook_id and s.id = r.workspace_id
     returning r.id, r.workspace_id as "workspaceId", r.webhook_id as "webhookId", r.state, r.covers,
       r.event_types as types, w.events as subscribed, r.senders, r.rate, r.is_counted as "isCounted",
       due.is_committed as "isCommitted", ${positionSql('r.position_at', 'r.position_id')} as "from",
       ${positionSql(
         `least(case when r.is_counted then r.until else r.counted_at end,
           case when not due.is_committed then due.committed_before end)`,
         `case when r.is_counted or not (due.is_committed or r.counted_at < due.committed_before) then '${lastId}'::uuid
           else r.counted_id end`,
       )} as "to",
       r.is_counted and due.is_committed and (r.position_at, r.position_id) = (r.until, '${lastId}'::uuid) as "isAtEnd",
       not w.enabled as "isDisabled", w.next_attempt_at is not null as "isFailing",
       s.suspended_at is not null as "isSuspended", due.before`,
).rows<TakenReplay>

/** Returns one replay of this process, or all (null), so that another process continues immediately. */
export const returnReplays = (db: Db, owner: string, now: Date, id: string | null = null): Promise<number> =>
  db.change(
    `update replays set owner = null, owned_until = null, step_at = $2
     where owner = $1 and ended_at is null and ($3::uuid is null or id = $3)`,
    [owner, now, id],
  )

export const planStep = (db: Db, id: string, owner: string, at: Date): Promise<number> =>
  db.change('update replays set step_at = $3 where id = $1 and owner = $2 and ended_at is null', [id, owner, at])

/**
 * Leases deliveries of a replay that are due, not attempted, and that no worker has: released deliveries, and
 * deliveries whose lease has ended. If the process that ran the replay is gone (`isTakenOver`), includes its
 * deliveries. Returns none if this process does not own the replay any more: it may have been frozen since it took this
 * step, and another one sends them.
 */
export const reclaim = statement(
  {
    replayId: 'uuid',
    owner: 'uuid',
    webhookId: 'uuid',
    now: 'timestamptz',
    lease: 'uuid',
    leaseUntil: 'timestamptz',
    isTakenOver: 'bool',
    limit: 'int',
  },
  ({ replayId, owner, webhookId, now, lease, leaseUntil, isTakenOver, limit }) => `with own as materialized (
       select id from replays
       where id = ${replayId} and owner = ${owner} and ended_at is null and state = 'running' for share
     ), found as materialized (
       select d.event_id from own cross join lateral (
         select event_id from deliveries
         where replay_id = own.id and trigger = 'replay'
           and (due_at <= ${now} or (${isTakenOver} and lease <> ${lease}))
         order by event_id limit ${limit} for update skip locked) as d
     ), leased as (
       update deliveries set lease = ${lease}, due_at = ${leaseUntil}
       where webhook_id = ${webhookId} and event_id = any(array(select event_id from found))
       returning event_id, event_created_at, conversation
     )
     select l.event_id as "eventId", l.event_created_at as "eventCreatedAt", l.conversation, e.type, e.body
     from leased l left join lateral (
       select type, body from events where id = l.event_id and created_at = l.event_created_at
       limit 1 for key share skip locked) as e on true
     order by l.event_created_at, l.event_id`,
).rows<LeasedRow>

export const hasUnattempted = async (db: Db, replayId: string): Promise<boolean> =>
  (await db.first(`select 1 as one from deliveries where replay_id = $1 and trigger = 'replay' limit 1`, [
    replayId,
  ])) !== undefined

/** Completes a replay that has added all deliveries, when none of them is open. Events that could not be sent leave the total. */
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

/**
 * Drops deliveries that a cancelled replay has added, unless an attempt is in progress. Deliveries that were open
 * before the replay continue without it. `eventIds` are leased to this process and will not be attempted.
 */
export const dropCancelled = statement(
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
       delete from deliveries
       where webhook_id = ${webhookId} and event_id = any(array(select event_id from found where added_by_replay))
     ), kept as (
       update deliveries set replay_id = null, lease = null,
         due_at = case when trigger = 'replay' then ${now} else due_at end,
         trigger = case when trigger = 'replay' then 'retry' else trigger end
       where webhook_id = ${webhookId}
         and event_id = any(array(select event_id from found where added_by_replay is not true))
       returning 1
     )
     select count(*)::int as kept from kept`,
).first<{ kept: number }>

/** Ends a cancelled replay when none of its deliveries is open. */
export const endCancelled = async (db: Db, id: string, owner: string, now: Date): Promise<boolean> =>
  (await db.change(
    `update replays r set ended_at = $3 where r.id = $1 and r.owner = $2 and r.state = 'cancelled'
       and not exists (select from deliveries d where d.replay_id = r.id)`,
    [id, owner, now],
  )) === 1

/** Whether a replay has not begun yet: no other process makes first attempts for it. */
export const isAtStart = ({ from, before }: TakenReplay): boolean => from.id === firstId && before === null
