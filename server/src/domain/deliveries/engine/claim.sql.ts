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
  /** Endpoints that this process is busy with, and how many more it takes of each. */
  busy: readonly { webhookId: string; room: number }[]
  usualRoom: number
  limit: number
}

/**
 * Leases deliveries that are due: retries, those nobody began, and those whose lease ran out. Endpoint by endpoint, each
 * found by a look into the index, so that what waits for one never has to be read past to get at another's. So is each
 * event: joined as a whole, PostgreSQL would rather read all there are.
 */
const claiming = statement(
  {
    now: 'timestamptz',
    lease: 'uuid',
    leaseUntil: 'timestamptz',
    busy: { webhookId: 'uuid', room: 'int' },
    usualRoom: 'int',
    limit: 'int',
  },
  ({ now, lease, leaseUntil, busy, usualRoom, limit }) => `with recursive queue(id) as (
       (select webhook_id from deliveries order by webhook_id limit 1)
       union all
       select (select d.webhook_id from deliveries d where d.webhook_id > l.id order by d.webhook_id limit 1)
       from queue l where l.id is not null
     ), due as materialized (
       select d.webhook_id, d.event_id
       from (select l.id, coalesce(busy.room, ${usualRoom}) as room from queue l
             left join ${busy} on busy.webhook_id = l.id where l.id is not null) as r
       cross join lateral (
         select webhook_id, event_id from deliveries
         where webhook_id = r.id and due_at <= ${now} order by due_at limit r.room for update skip locked) as d
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

interface Held {
  webhookId: string
  eventId: string
  lease: string
}

const held = { webhookId: 'uuid', eventId: 'uuid', lease: 'uuid' } as const

const isHeld = 'd.webhook_id = held.webhook_id and d.event_id = held.event_id and d.lease = held.lease'

const releasing = statement(
  { held, due: 'timestamptz' },
  ({ held, due }) => `update deliveries d set lease = null, due_at = ${due} from ${held} where ${isHeld}`,
)

/** Gives leases back: due at once, or (`infinity`) when the endpoint is enabled. */
export const releaseLeases = (db: Db, items: readonly Held[], due: Date | 'infinity'): Promise<number> =>
  releasing.change(db, { held: items, due })

const dropping = statement({ held }, ({ held }) => `delete from deliveries d using ${held} where ${isHeld}`)

/** Deliveries of endpoints that are gone, or events past retention: nobody will make them. */
export const dropLeases = (db: Db, items: readonly Held[]): Promise<number> => dropping.change(db, { held: items })
