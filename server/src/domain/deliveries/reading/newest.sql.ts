import type { DeliveryState } from '@parley/contract/console/deliveries'
import type { Db } from '../../../db/db.ts'
import { heldSince, lastAttempt, nextAttemptAt, openState } from './delivery-state.sql.ts'
import { isFinished, rowByRow } from './list.sql.ts'

export interface DeliveryRow {
  event_id: string
  webhook_id: string
  account_id: string
  event: string | null
  state: DeliveryState
  /** All attempts, also those before a manual retry, as in the console. */
  attempts: number
  last_attempt_at: Date | null
  last_status: number | null
  last_error: string | null
  /** Null if there is no next attempt. */
  next_attempt_at: Date | null
  held_since: Date | null
  created_at: Date
}

/** No index has the state of an open delivery, or whether a finished one is open again. So only this many are searched. */
const scanLimit = 10_000

/**
 * Reads the newest deliveries of each endpoint from the index, then takes the newest of those. Of an endpoint, the newest 10,000
 * are searched for the state.
 */
export const newestDeliveries = (
  db: Db,
  { webhookId, state, limit }: { webhookId: string | null; state: DeliveryState | null; limit: number },
): Promise<DeliveryRow[]> =>
  rowByRow(db, (tx) =>
    tx.rows(
      `with open as (
       select d.event_id, d.webhook_id, d.workspace_id, d.event_created_at, coalesce(l.made, 0) as attempts,
         d.state, ${nextAttemptAt} as due_at, ${heldSince} as held_since, l.at as last_at, l.status, l.error
       from webhooks w
       cross join lateral (
         select * from (
           select d.*, ${openState} as state from deliveries d
           where d.webhook_id = w.id and ($2::text is null or $2 not in ('delivered', 'failed'))
           order by d.event_id desc limit ${scanLimit}) as d
         where $2::text is null or d.state = $2
         order by d.event_id desc limit $3) as d
       ${lastAttempt('d.event_id', 'd.webhook_id', 'd.event_created_at')}
       where ($1::uuid is null or w.id = $1) and w.deleted_at is null
     ), finished as (
       select a.event_id, a.webhook_id, a.workspace_id, a.event_created_at, made.count as attempts, a.state,
         null::timestamptz as due_at, null::timestamptz as held_since, a.at as last_at, a.status, a.error
       from webhooks w
       cross join lateral (
         select * from (
           select * from delivery_attempts a
           where a.webhook_id = w.id and a.state in ('delivered', 'failed') and ($2::text is null or a.state = $2)
           order by a.at desc limit ${scanLimit}) as a
         where ${isFinished}
         order by a.at desc limit $3) as a
       cross join lateral (select count(*) from delivery_attempts m
         where m.event_id = a.event_id and (m.webhook_id = a.webhook_id) is true and m.at >= a.event_created_at) as made
       where $1::uuid is null or w.id = $1
     )
     select x.event_id, x.webhook_id, x.workspace_id as account_id, e.type as event, x.state, x.attempts,
       x.last_at as last_attempt_at, x.status as last_status, x.error as last_error, x.due_at as next_attempt_at,
       x.held_since, x.event_created_at as created_at
     from (select * from open union all select * from finished) as x
     left join events e on e.id = x.event_id and e.created_at = x.event_created_at
     order by x.event_created_at desc, x.event_id desc limit $3`,
      [webhookId, state, limit],
    ),
  )
