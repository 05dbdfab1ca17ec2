import type { DeliveryFilter } from '@parley/contract/console/deliveries'
import type { Db } from '../../../db/db.ts'
import { withPlannerSettingsOff } from '../../../db/planner-settings.ts'
import { statement } from '../../../db/statement.ts'
import { isHeld } from './delivery-state.sql.ts'
import { type DeliveryListQuery, endpoints, isFinished, parameters, valuesOf } from './list.sql.ts'

export interface DeliveryCountQuery extends Omit<DeliveryListQuery, 'after' | 'take'> {
  types: readonly string[] | null
  states: ReadonlySet<DeliveryFilter>
  atMost: number
}

/** How many deliveries match, at most `atMost`: open ones by the time of their event, finished ones by their last attempt. */
export async function countDeliveries(db: Db, input: DeliveryCountQuery): Promise<number> {
  const { states, eventId, types, since, until } = input
  const counting = statement({ ...parameters, types: 'text[]', atMost: 'int' }, (param) => {
    const ofType = (row: string) =>
      types
        ? `and exists (select 1 from events e where e.id = ${row}.event_id and e.created_at = ${row}.event_created_at
             and e.type = any(${param.types}))`
        : ''
    // Functions: a parameter is sent as soon as a text has it, and the text that is not used must not have any.
    const open = () => `(select 1 from webhooks w join deliveries d on d.webhook_id = w.id
       where ${endpoints(input, param)} and d.workspace_id = ${param.workspaceId}
         ${states.has('waiting') ? '' : `and ${isHeld}`} ${states.has('held') ? '' : `and not ${isHeld}`}
         ${eventId ? `and d.event_id = ${param.eventId}` : ''} ${since ? `and d.event_id >= ${param.sinceId}` : ''}
         ${until ? `and d.event_id <= ${param.untilId}` : ''} ${ofType('d')} limit ${param.atMost})`
    // Literals, so that the partial index of failures can be used.
    const ended = [...states]
      .filter((state) => state === 'delivered' || state === 'failed')
      .map((state) => `'${state}'`)
    const finished = () => `(select 1 from webhooks w join delivery_attempts a on a.webhook_id = w.id
       where ${endpoints(input, param)} and a.workspace_id = ${param.workspaceId}
         and a.state ${ended.length === 1 ? `= ${ended}` : `in (${ended})`}
         ${eventId ? `and a.event_id = ${param.eventId}` : ''} ${since ? `and a.at >= ${param.since}` : ''}
         ${until ? `and a.at <= ${param.until}` : ''} ${ofType('a')}
         and ${isFinished}
       limit ${param.atMost})`
    const isOpen = states.has('waiting') || states.has('held')
    const parts = [...(isOpen ? [open()] : []), ...(ended.length > 0 ? [finished()] : [])]
    return `select count(*)::int as count from ${parts.length === 1 ? parts[0] : `(${parts.join(' union all ')})`} as counted`
  })
  const values = { ...valuesOf({ ...input, after: null, take: 0 }), types, atMost: input.atMost }
  // Without `material`, each finished delivery is looked up among the open ones. Else it is compared with all of them.
  const row = await withPlannerSettingsOff(['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'material'], db, (tx) =>
    counting.first<{ count: number }>(tx, values),
  )
  return row?.count ?? 0
}
