import type { Db } from '../../../db/db.ts'
import { withIndexLookups } from '../../../db/planner-settings.ts'
import { statement } from '../../../db/statement.ts'
import type { Trigger } from '../../../lib/first-attempts.ts'

export interface ClaimedRow {
  eventId: string
  webhookId: string
  workspaceId: string
  eventCreatedAt: Date
  attempts: number
  trigger: Trigger
  /** It is the one attempt that its failing endpoint gets at a time. */
  hasTurn: boolean
  type: string | null
  /** Null if its event is past retention. */
  body: Buffer | null
}

export interface ClaimInput {
  now: Date
  lease: string
  leaseUntil: Date
  /** Endpoints that this process has queues for, and how many more deliveries each takes. */
  busy: readonly { webhookId: string; capacity: number }[]
  defaultCapacity: number
  limit: number
}

/**
 * Leases due deliveries: retries, deliveries that no worker has started, and deliveries with an expired lease. The `queue`
 * CTE finds the endpoints by one index lookup each, so a long queue of one endpoint is never scanned to reach another's.
 * Events are looked up one by one in a lateral join; for a plain join PostgreSQL would scan the whole table.
 *
 * A failing endpoint has a turn for one attempt at a time, in `webhooks.next_attempt_at`. The process that locks the row
 * after that time claims one delivery, a manual one first, and takes the turn for as long as the lease lasts. The row is
 * locked without waiting, before any delivery is, because recording attempts locks in that order and does wait.
 */
const claiming = statement(
  {
    now: 'timestamptz',
    lease: 'uuid',
    leaseUntil: 'timestamptz',
    busy: { webhookId: 'uuid', capacity: 'int' },
    defaultCapacity: 'int',
    limit: 'int',
  },
  ({ now, lease, leaseUntil, busy, defaultCapacity, limit }) => `with recursive queue(id) as (
       (select webhook_id from deliveries order by webhook_id limit 1)
       union all
       select (select d.webhook_id from deliveries d where d.webhook_id > l.id order by d.webhook_id limit 1)
       from queue l where l.id is not null
     ), turns as materialized (
       select id from webhooks where next_attempt_at <= ${now} for update skip locked
     ), due as materialized (
       select d.webhook_id, d.event_id, r.has_turn
       from (select l.id, t.id is not null as has_turn,
               case when w.next_attempt_at is null then c.capacity when t.id is null then 0
                 else least(c.capacity, 1) end as capacity
             from queue l
             left join ${busy} on busy.webhook_id = l.id
             cross join lateral (select coalesce(busy.capacity, ${defaultCapacity}) as capacity) as c
             left join webhooks w on w.id = l.id
             left join turns t on t.id = l.id
             where l.id is not null) as r
       cross join lateral (
         select * from (
           select webhook_id, event_id from deliveries
           where webhook_id = r.id and trigger = 'manual' and due_at <= ${now}
           order by due_at limit case when r.has_turn then r.capacity else 0 end for update skip locked) as manual
         union all
         select * from (
           select webhook_id, event_id from deliveries
           where webhook_id = r.id and due_at <= ${now} order by due_at limit r.capacity for update skip locked) as other
         limit r.capacity) as d
       limit ${limit}
     ), taken as (
       update webhooks w set next_attempt_at = ${leaseUntil} from due where due.has_turn and w.id = due.webhook_id
     ), claimed as (
       update deliveries d set lease = ${lease}, due_at = ${leaseUntil} from due
       where d.webhook_id = due.webhook_id and d.event_id = due.event_id
       returning d.*, due.has_turn
     )
     select c.event_id as "eventId", c.webhook_id as "webhookId", c.workspace_id as "workspaceId",
       c.event_created_at as "eventCreatedAt", c.attempts, c.trigger, c.has_turn as "hasTurn", e.type, e.body
     from claimed c
     left join lateral (
       select type, body from events where id = c.event_id and created_at = c.event_created_at limit 1) as e on true
     order by c.event_created_at, c.event_id`,
)

export const claimDue = (db: Db, input: ClaimInput): Promise<ClaimedRow[]> =>
  withIndexLookups(db, (tx) => claiming.rows(tx, input))

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

/**
 * A CTE that gives back the turns of failing endpoints, so that the next attempt can begin at `due`. All endpoints are locked
 * first and in order, as recording attempts locks them, to prevent deadlocks.
 */
const returnTurns = (webhookIds: string, turns: string, due: string): string => `locked as materialized (
       select id, next_attempt_at from webhooks where id = any(${webhookIds}) order by id for update
     ), returned as (
       update webhooks w set next_attempt_at = ${due} from locked l
       where w.id = l.id and l.id = any(${turns}) and l.next_attempt_at is not null
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
     update deliveries d set lease = null, due_at = ${due}, attempts = leased.attempts, trigger = leased.trigger
     from ${leased}, first where ${isOurs}`,
)

/**
 * Releases leases, and the turns of failing endpoints that were claimed with them. The deliveries are due at `due`; with
 * `infinity` they are held until the endpoint is enabled. The attempts are written too, because the last one may not be
 * recorded yet, and recording it does not change a delivery whose lease has ended.
 */
export const releaseLeases = (db: Db, items: readonly LeasedRow[], due: Date | 'infinity'): Promise<number> =>
  releasing.change(db, {
    leased: items,
    webhookIds: endpointsOf(items),
    turns: due === 'infinity' ? [] : turnsOf(items),
    due,
  })

const dropping = statement(
  { leased: leaseKey, webhookIds: 'uuid[]', turns: 'uuid[]', now: 'timestamptz' },
  ({ leased, webhookIds, turns, now }) => `with ${returnTurns(webhookIds, turns, now)}
     delete from deliveries d using ${leased}, first where ${isOurs}`,
)

/**
 * Deletes deliveries that can no longer be made: the endpoint is deleted, or the event is past retention. The turn of a
 * failing endpoint goes to its next delivery.
 */
export const dropLeases = (db: Db, items: readonly (LeaseKey & { hasTurn: boolean })[], now: Date): Promise<number> =>
  dropping.change(db, { leased: items, webhookIds: endpointsOf(items), turns: turnsOf(items), now })
