import type { Db } from '../../../../db/db.ts'
import { oneWithKeyLookups } from '../../../../db/planner-settings.ts'
import { statement } from '../../../../db/statement.ts'
import type { LeasedDelivery, Trigger } from '../first-attempts.ts'
import { planVisitsSql, visitEveryMs } from '../visits.sql.ts'

export interface ClaimedRow {
  eventId: string
  webhookId: string
  workspaceId: string
  eventCreatedAt: Date
  attempts: number
  trigger: Trigger
  /** It is the one attempt that its failing endpoint gets at a time. */
  hasTurn: boolean
  replayId: string | null
  conversation: string | null
  type: string | null
  /** Null if its event is past retention. */
  body: Buffer | null
}

/** An endpoint that a claim looks at. */
export interface Visit {
  webhookId: string
  workspaceId: string
  /** See the table `endpoint_visits`. */
  step: number
}

/**
 * Takes the visits that are due, longest waiting first. The claim that follows in the same transaction plans the next
 * visits, after the visits of all other endpoints. Visits of endpoints in `except` stay, for other processes.
 */
export const takeVisits = statement(
  { now: 'timestamptz', except: 'uuid[]', limit: 'int' },
  ({ now, except, limit }) => `delete from endpoint_visits v using (
       select ctid from endpoint_visits where visit_at <= ${now} and webhook_id <> all(${except})
       order by visit_at limit ${limit} for update skip locked) as p
     where v.ctid = p.ctid
     returning v.webhook_id as "webhookId", v.workspace_id as "workspaceId", v.step`,
).rows<Visit>

/** The second look is this much later, so that it sees transactions that were about to commit at the first. */
const lookAgainMs = 1_000

/**
 * Leases due deliveries of the endpoints that are visited: retries, deliveries that no worker has started, and deliveries
 * with an expired lease. Each endpoint costs a few index lookups, however many deliveries wait.
 * Events are looked up one by one in a lateral join; for a plain join PostgreSQL would scan the whole table.
 *
 * If an endpoint may have more due deliveries, its next visit is now, behind all planned visits. Otherwise it is at the time of
 * the next delivery. An open transaction may have relied on the visit that ends here, although its deliveries are not visible
 * yet. So a visit that finds no more is followed by a second one soon, and by a last one half a minute later.
 *
 * A failing endpoint has a turn for one attempt at a time, in `webhooks.next_attempt_at`. The process that locks the row
 * after that time claims one delivery, a manual one first, and takes the turn for as long as the lease lasts. The row is
 * locked without waiting, before any delivery is, because recording attempts locks in that order and does wait.
 *
 * First attempts of replays are made by the process that runs the replay, at its pace; only that of a failing endpoint's turn is
 * claimed here.
 *
 * Of a disabled endpoint only manual deliveries are claimed that were asked for after it was disabled. Its other deliveries are
 * not looked at, however many are held, and it is not visited again for them.
 */
export const claimDue = statement(
  {
    now: 'timestamptz',
    lease: 'uuid',
    leaseUntil: 'timestamptz',
    visits: { webhookId: 'uuid', workspaceId: 'uuid', step: 'smallint', take: 'int' },
  },
  ({ now, lease, leaseUntil, visits }) => `with visit as materialized (
       select visits.*, w.next_attempt_at, w.enabled, w.disabled_at,
         ${now}::timestamptz as now
       from ${visits} join webhooks w on w.id = visits.webhook_id and w.deleted_at is null
     ), turns as materialized (
       select w.id from visit v
       cross join lateral (
         select id from webhooks
         where id = v.webhook_id and next_attempt_at <= ${now} for update skip locked) as w
       where v.next_attempt_at is not null
     ), endpoint as materialized (
       select v.*, t.id is not null as has_turn,
         case when v.next_attempt_at is null then v.take when t.id is null then 0 else least(v.take, 1) end as claims
       from visit v left join turns t on t.id = v.webhook_id
     ), picked as materialized (
       select r.*, d.event_ids, coalesce(cardinality(d.event_ids), 0) as claimed
       from endpoint r
       cross join lateral (
         select array_agg(event_id) as event_ids from (
           select * from (
             select event_id from deliveries
             where webhook_id = r.webhook_id and trigger = 'manual' and due_at <= ${now}
               and (r.enabled or due_at >= r.disabled_at)
             order by due_at limit case when r.has_turn or not r.enabled then r.claims else 0 end
             for update skip locked) as manual
           union all
           select * from (
             select event_id from deliveries
             where webhook_id = r.webhook_id and due_at <= ${now} and due_at < 'infinity' and (trigger <> 'replay' or r.has_turn)
             order by due_at limit case when r.enabled then r.claims else 0 end
             for update skip locked) as other
           limit r.claims) as due) as d
     ), due as materialized (
       select webhook_id, has_turn, unnest(event_ids) as event_id from picked
     ), found as materialized (
       select r.*, least(l.due_at, case when r.claimed > 0 then ${leaseUntil} end) as later,
         case when r.claimed > 0 then true
           when r.enabled then
             exists (select from deliveries d where d.webhook_id = r.webhook_id and d.due_at < 'infinity')
           else exists (select from deliveries d where d.webhook_id = r.webhook_id and d.trigger = 'manual'
             and d.due_at >= r.disabled_at and d.due_at < 'infinity') end as is_open
       from picked r
       left join lateral (
         select due_at from deliveries d
         where r.enabled and d.webhook_id = r.webhook_id and d.due_at > ${now} and d.due_at < 'infinity'
         order by due_at limit 1) as l on true
     ), next_visits as (
       insert into endpoint_visits (webhook_id, workspace_id, visit_at, step)
       select f.webhook_id, f.workspace_id, n.visit_at, n.step
       from found f
       cross join lateral (
         select f.now + interval '${lookAgainMs} milliseconds' as soon,
           f.now + interval '${visitEveryMs} milliseconds' as latest) as t
       cross join lateral (
         select f.now as visit_at, 0 as step where f.claimed > 0 and f.claimed = f.claims and not f.has_turn
         union all
         select case when f.has_turn then t.latest else least(greatest(f.next_attempt_at, t.soon), t.latest) end, 0
         where f.next_attempt_at is not null and f.is_open and (f.claimed > 0 or not f.has_turn)
         union all
         select least(f.later, t.soon), 1 where f.step = 0
         union all
         select case when f.claims = 0 then t.soon else least(coalesce(f.later, t.soon), t.latest) end, 0 where f.is_open
         union all
         select t.latest, 2 where f.step = 1
         limit 1) as n
       where n.step > 0 or (select true from endpoint_visits v
         where v.webhook_id = f.webhook_id and v.step = 0 and v.visit_at <= n.visit_at limit 1) is null
     ), taken as (
       update webhooks w set next_attempt_at = ${leaseUntil} from due where due.has_turn and w.id = due.webhook_id
     ), claimed as (
       update deliveries d set lease = ${lease}, due_at = ${leaseUntil} from due
       where d.webhook_id = due.webhook_id and d.event_id = due.event_id
       returning d.*, due.has_turn
     )
     select c.event_id as "eventId", c.webhook_id as "webhookId", c.workspace_id as "workspaceId",
       c.event_created_at as "eventCreatedAt", c.attempts, c.trigger, c.has_turn as "hasTurn", c.conversation,
       c.replay_id as "replayId", e.type, e.body
     from claimed c
     left join lateral (
       select type, body from events where id = c.event_id and created_at = c.event_created_at limit 1) as e on true
     order by c.event_created_at, c.event_id`,
).rows<ClaimedRow>

interface LeaseKey {
  webhookId: string
  eventId: string
  lease: string
}

interface LeasedRow extends LeaseKey {
  attempts: number
  trigger: Trigger
  hasTurn: boolean
}

const leaseKey = { webhookId: 'uuid', eventId: 'uuid', lease: 'uuid' } as const

const isOurs = 'd.webhook_id = leased.webhook_id and d.event_id = leased.event_id and d.lease = leased.lease'

const reading = statement(
  { leased: leaseKey },
  ({ leased }) => `select d.event_id as "eventId", d.webhook_id as "webhookId", d.workspace_id as "workspaceId",
       d.event_created_at as "eventCreatedAt", d.attempts, d.trigger, d.lease, d.conversation, d.due_at as "leaseUntil",
       d.replay_id as "replayId", e.type, e.body
     from ${leased} join deliveries d on ${isOurs}
     cross join lateral (
       select type, body from events where id = d.event_id and created_at = d.event_created_at limit 1) as e`,
)

/** The deliveries that still have these leases. */
export async function readLeased(db: Db, keys: readonly LeaseKey[]): Promise<LeasedDelivery[]> {
  type Row = Omit<LeasedDelivery, 'hasTurn' | 'leaseUntilMs'> & { leaseUntil: Date }
  const rows = await oneWithKeyLookups(db, (tx) => reading.rows<Row>(tx, { leased: keys }))
  return rows.map(({ leaseUntil, ...row }) => ({ ...row, hasTurn: false, leaseUntilMs: leaseUntil.getTime() }))
}

/**
 * A CTE that returns the turns of failing endpoints, so that the next attempt can begin at `due`. All endpoints are locked
 * first and in order, as recording attempts locks them, to prevent deadlocks.
 */
const returnTurns = (webhookIds: string, turns: string, due: string): string => `locked as materialized (
       select id, next_attempt_at from webhooks where id = any(${webhookIds}) order by id for update
     ), returned as (
       update webhooks w set next_attempt_at = ${due} from locked l
       where w.id = l.id and l.id = any(${turns}) and l.next_attempt_at is not null
       returning w.id as webhook_id, w.workspace_id, w.next_attempt_at as due_at
     ), first as materialized (select count(*) from locked)`

const turnsOf = (items: readonly { webhookId: string; hasTurn: boolean }[]): string[] =>
  items.filter(({ hasTurn }) => hasTurn).map(({ webhookId }) => webhookId)

const endpointsOf = (items: readonly { webhookId: string }[]): string[] => [
  ...new Set(items.map(({ webhookId }) => webhookId)),
]

const releasing = statement(
  {
    leased: { ...leaseKey, attempts: 'smallint', trigger: 'text', hasTurn: 'bool' },
    webhookIds: 'uuid[]',
    turns: 'uuid[]',
    due: 'timestamptz',
  },
  ({ leased, webhookIds, turns, due }) => `with ${returnTurns(webhookIds, turns, due)}
     , released as (
       update deliveries d set lease = null, due_at = ${due}, attempts = leased.attempts, trigger = leased.trigger
       from ${leased}, first where ${isOurs}
       returning d.webhook_id, d.workspace_id, d.due_at
     )${planVisitsSql('released')}`,
)

/**
 * Releases leases, and the turns of failing endpoints that were claimed with them. The deliveries are due at `due`. The attempts
 * are written too, because the last one may not be recorded yet, and recording it does not change a delivery whose lease has
 * ended.
 */
export const releaseLeases = (db: Db, items: readonly LeasedRow[], due: Date): Promise<number> =>
  oneWithKeyLookups(db, (tx) =>
    releasing.change(tx, { leased: items, webhookIds: endpointsOf(items), turns: turnsOf(items), due }),
  )

const dropping = statement(
  { leased: leaseKey, webhookIds: 'uuid[]', turns: 'uuid[]', now: 'timestamptz' },
  ({ leased, webhookIds, turns, now }) => `with ${returnTurns(webhookIds, turns, now)}
     , dropped as (delete from deliveries d using ${leased}, first where ${isOurs})${planVisitsSql('returned')}`,
)

/**
 * Deletes deliveries that can no longer be made: the endpoint is deleted, or the event is past retention. The turn of a
 * failing endpoint goes to its next delivery.
 */
export const dropLeases = (db: Db, items: readonly (LeaseKey & { hasTurn: boolean })[], now: Date): Promise<number> =>
  oneWithKeyLookups(db, (tx) =>
    dropping.change(tx, { leased: items, webhookIds: endpointsOf(items), turns: turnsOf(items), now }),
  )
