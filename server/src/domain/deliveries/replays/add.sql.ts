/** Adds the deliveries of a replay. */
import type { Db } from '../../../db/db.ts'
import { oneWithOrderedLookups } from '../../../db/planner-settings.ts'
import { type Statement, statement } from '../../../db/statement.ts'
import { lockEndpoints } from '../engine/lock-endpoints.sql.ts'
import { type Coverage, coverageParameters, coverageValues, coveredSql, perCoverage, reachSql } from './covered.sql.ts'

/** A delivery of a replay that this process has leased. */
export interface LeasedRow {
  eventId: string
  eventCreatedAt: Date
  /** Set if the delivery was open, and others of its conversation wait for it. */
  conversation: string | null
  type: string | null
  /** Null if its event is past retention. */
  body: Buffer | null
}

const parameters = {
  ...coverageParameters,
  replayId: 'uuid',
  owner: 'uuid',
  take: 'int',
  lease: 'uuid',
  leaseUntil: 'timestamptz',
  now: 'timestamptz',
} as const

/**
 * Adds deliveries for the next covered events, leases them to this process, and saves the position. It does nothing if
 * this process does not own the replay any more, or it was cancelled.
 *
 * An event that is being erased is left out: its row is locked, so it is either gone or an erasure waits until these
 * deliveries are committed, and deletes them. An open delivery becomes part of the replay, and gets a new
 * schedule unless an attempt is in progress. It leaves another replay, unless that replay is just sending it.
 */
const adding = perCoverage(
  (covers, hasSenders): Statement<typeof parameters> =>
    statement(parameters, (places) => {
      const { webhookId, workspaceId, replayId, owner, take, lease, leaseUntil, now } = places
      // Deliveries that wait for others of their conversation are excluded.
      const isFree = `((d.lease is null or d.due_at <= ${now}) and (d.conversation is null or d.due_at < 'infinity'))`
      return `with own as materialized (
       select id from replays
       where id = ${replayId} and owner = ${owner} and ended_at is null and state = 'running' for update
     ), ${reachSql(places)}
     , matched as materialized (
       select e.* from own cross join reach cross join lateral (
         select e.id, e.created_at, e.type, e.body from events e where ${coveredSql(covers, hasSenders, places)}
         order by e.created_at, e.id limit ${take} for key share of e skip locked) as e
     ), added as (
       insert into deliveries as d (event_id, webhook_id, workspace_id, event_created_at, trigger, due_at, lease, replay_id,
         added_by_replay)
       select id, ${webhookId}, ${workspaceId}, created_at, 'replay', ${leaseUntil}, ${lease}, ${replayId}, true from matched
       order by id
       on conflict (webhook_id, event_id) do update set
         replay_id = case when ${isFree} or d.replay_id is null then excluded.replay_id else d.replay_id end,
         attempts = case when ${isFree} then 0 else d.attempts end,
         trigger = case when ${isFree} then excluded.trigger else d.trigger end,
         lease = case when ${isFree} then excluded.lease else d.lease end,
         due_at = case when ${isFree} then excluded.due_at else d.due_at end
       returning d.event_id, d.lease, d.conversation
     ), reached as materialized (
       -- The last of them, if there may be more in this part; the end of the part otherwise.
       select coalesce(m.created_at, reach.created_at) as at, coalesce(m.id, reach.id) as id,
         reach.more or m.id is not null as more
       from reach left join lateral (
         select created_at, id from matched where (select count(*) from matched) = ${take}
         order by created_at desc, id desc limit 1) as m on true
     ), saved as (
       -- A step that may not send yet what was created last reaches less far than its start.
       update replays r set position_at = reached.at, position_id = reached.id from own, reached
       where r.id = own.id and (r.position_at, r.position_id) < (reached.at, reached.id)
     )
     select reached.more, m.id as "eventId", m.created_at as "eventCreatedAt", a.conversation, m.type, m.body,
       a.lease = ${lease} as "isOurs"
     from own cross join reached left join matched m on true left join added a on a.event_id = m.id
     order by m.created_at, m.id`
    }),
)

export interface Added {
  /** All that were added, and those of them that are leased to this process. */
  count: number
  leased: LeasedRow[]
  /** False at the end of the range. */
  more: boolean
}

/**
 * Without a lease, the deliveries are due at `leaseUntil`. Undefined if this process does not own the replay any more, or it was
 * cancelled.
 */
export async function addNext(
  db: Db,
  coverage: Coverage,
  {
    scan,
    ...values
  }: { replayId: string; owner: string; scan: number; take: number; now: Date; lease: string | null; leaseUntil: Date },
): Promise<Added | undefined> {
  type Row = Omit<LeasedRow, 'eventId'> & { more: boolean; eventId: string | null; isOurs: boolean | null }
  // Recordings wait for the lock on the endpoint, so all of it is sent together.
  const rows = await oneWithOrderedLookups(db, async (tx) => {
    const [, found] = await Promise.all([
      lockEndpoints(tx, [coverage.webhookId]),
      adding(coverage).rows<Row>(tx, { ...coverageValues(coverage, scan), ...values }),
    ])
    return found
  })
  const [first] = rows
  if (!first) return undefined
  const added = rows.flatMap(({ eventId, ...row }) => (eventId === null ? [] : [{ ...row, eventId }]))
  const leased = added.flatMap(({ isOurs, more: _, ...row }) => (isOurs ? [row] : []))
  return { count: added.length, leased, more: first.more }
}
