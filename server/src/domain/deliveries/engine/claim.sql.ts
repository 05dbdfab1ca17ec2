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
     ), due as materialized (
       select d.webhook_id, d.event_id
       from (select l.id, coalesce(busy.capacity, ${defaultCapacity}) as capacity from queue l
             left join ${busy} on busy.webhook_id = l.id where l.id is not null) as r
       cross join lateral (
         select webhook_id, event_id from deliveries
         where webhook_id = r.id and due_at <= ${now} order by due_at limit r.capacity for update skip locked) as d
       limit ${limit}
     ), claimed as (
       update deliveries d set lease = ${lease}, due_at = ${leaseUntil} from due
       where d.webhook_id = due.webhook_id and d.event_id = due.event_id
       returning d.*
     )
     select c.event_id as "eventId", c.webhook_id as "webhookId", c.workspace_id as "workspaceId",
       c.event_created_at as "eventCreatedAt", c.attempts, c.trigger, e.type, e.body
     from claimed c
     left join lateral (
       select type, body from events where id = c.event_id and created_at = c.event_created_at limit 1) as e on true
     order by c.event_created_at, c.event_id`,
)

export const claimDue = (db: Db, input: ClaimInput): Promise<ClaimedRow[]> =>
  withIndexLookups(db, (tx) => claiming.rows(tx, input))

interface LeasedRow {
  webhookId: string
  eventId: string
  lease: string
}

const leased = { webhookId: 'uuid', eventId: 'uuid', lease: 'uuid' } as const

const isOurs = 'd.webhook_id = leased.webhook_id and d.event_id = leased.event_id and d.lease = leased.lease'

const releasing = statement(
  { leased, due: 'timestamptz' },
  ({ leased, due }) => `update deliveries d set lease = null, due_at = ${due} from ${leased} where ${isOurs}`,
)

/** Releases leases. The deliveries are due at `due`; with `infinity` they are held until the endpoint is enabled. */
export const releaseLeases = (db: Db, items: readonly LeasedRow[], due: Date | 'infinity'): Promise<number> =>
  releasing.change(db, { leased: items, due })

const dropping = statement({ leased }, ({ leased }) => `delete from deliveries d using ${leased} where ${isOurs}`)

/** Deletes deliveries that can no longer be made: the endpoint is deleted, or the event is past retention. */
export const dropLeases = (db: Db, items: readonly LeasedRow[]): Promise<number> =>
  dropping.change(db, { leased: items })
