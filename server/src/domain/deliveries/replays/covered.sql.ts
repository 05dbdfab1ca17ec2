/** Which events a replay covers. */
import type { ReplayCoverage } from '@parley/contract/replay'
import type { Db } from '../../../db/db.ts'
import { withOrderedLookups } from '../../../db/planner-settings.ts'
import { type Statement, statement } from '../../../db/statement.ts'

/** The position of an event. The time is text, as PostgreSQL writes it: a `Date` would lose the microseconds. */
export interface Position {
  at: string
  id: string
}

export const positionSql = (at: string, id: string): string => `jsonb_build_object('at', (${at})::text, 'id', ${id})`

/** What a replay covers, in a range of events: after `from`, up to `to`. */
export interface Coverage {
  workspaceId: string
  webhookId: string
  covers: ReplayCoverage
  types: readonly string[]
  /** Null: events of all numbers, and of none. */
  senders: readonly string[] | null
  from: Position
  to: Position
}

/** Before all other IDs, and after them. */
export const firstId = '00000000-0000-0000-0000-000000000000'
export const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export const coverageParameters = {
  workspaceId: 'uuid',
  webhookId: 'uuid',
  types: 'text[]',
  senders: 'uuid[]',
  fromAt: 'timestamptz',
  fromId: 'uuid',
  toAt: 'timestamptz',
  toId: 'uuid',
  /** How many events to look at. */
  scan: 'int',
} as const

type Places = Readonly<Record<keyof typeof coverageParameters, string>>

/**
 * CTEs for the next part of the range: `reach` is the last of its first `scan` events, or the end (`more` is false). The
 * comparison of times is there for PostgreSQL to leave out partitions.
 */
export const reachSql = ({ workspaceId, fromAt, fromId, toAt, toId, scan }: Places): string => `
     last as materialized (
       select e.created_at, e.id from events e
       where e.workspace_id = ${workspaceId} and e.created_at >= ${fromAt} and e.created_at <= ${toAt}
         and (e.created_at, e.id) > (${fromAt}, ${fromId}) and (e.created_at, e.id) <= (${toAt}, ${toId})
       order by e.created_at, e.id offset ${scan} - 1 limit 1
     ), reach as materialized (
       select created_at, id, true as more from last
       union all
       select ${toAt}, ${toId}, false where not exists (select from last)
     )`

/**
 * The conditions for events `e` up to `reach` that a replay covers. Each event is looked up on its own. Reading a member of
 * `places` adds its parameter, so the statement has only the parameters that it uses.
 */
export const coveredSql = (covers: ReplayCoverage, hasSenders: boolean, places: Places): string => `
       e.workspace_id = ${places.workspaceId} and e.created_at >= ${places.fromAt} and e.created_at <= reach.created_at
         and (e.created_at, e.id) > (${places.fromAt}, ${places.fromId})
         and (e.created_at, e.id) <= (reach.created_at, reach.id) and e.type = any(${places.types})
         and not (e.type = 'webhook.disabled' and ${disabledOf} = 'whk_' || ${places.webhookId}::text)
         and (${filterOf(places.webhookId)} is null or coalesce(${senderOf} = any(${filterOf(places.webhookId)}::uuid[]), true))
         ${hasSenders ? `and ${senderOf} = any(${places.senders})` : ''}
         ${covers === 'all' ? '' : stateSql[covers](places.webhookId)}`

const stateSql = {
  missing: (webhookId: string) => `and ${attempted(webhookId, 'delivered', 'e.created_at')} is null`,
  failed: (webhookId: string) => `and (select true from delivery_attempts a
           where ${isAttempt('a', webhookId)} and a.at >= e.created_at and a.state = 'failed'
             and ${attempted(webhookId, 'delivered', 'a.at')} is null limit 1)
         and (select true from deliveries d where d.webhook_id = ${webhookId} and d.event_id = e.id) is null`,
} as const

/** `is true` keeps PostgreSQL from looking in the index by endpoint, which has all of its attempts. */
const isAttempt = (name: string, webhookId: string): string =>
  `${name}.event_id = e.id and (${name}.webhook_id = ${webhookId}) is true`

const attempted = (webhookId: string, state: string, since: string): string =>
  `(select true from delivery_attempts l where ${isAttempt('l', webhookId)} and l.at >= ${since} and l.state = '${state}' limit 1)`

/** The sender of an event, or else of its message. */
const senderOf = `coalesce(e.sender_id, (select m.sender_id from messages m where m.id = e.message_id),
           (select i.sender_id from inbound_messages i where i.id = e.message_id limit 1))`

/** The endpoint that a `webhook.disabled` is about. It never gets that event. */
const disabledOf = `convert_from(e.body, 'UTF8')::json -> 'data' ->> 'webhook_id'`

/** The filter by sender of the endpoint. Events without a sender pass it. */
const filterOf = (webhookId: string): string => `(select w.senders from webhooks w where w.id = ${webhookId})`

/** One text for each kind of coverage, so that each gets its own plan. */
export function perCoverage<Made>(
  make: (covers: ReplayCoverage, hasSenders: boolean) => Made,
): (coverage: Coverage) => Made {
  const made = new Map<string, Made>()
  return ({ covers, senders }) => {
    const name = `${covers} ${senders !== null}`
    const found = made.get(name) ?? make(covers, senders !== null)
    made.set(name, found)
    return found
  }
}

export const coverageValues = ({ workspaceId, webhookId, types, senders, from, to }: Coverage, scan: number) => ({
  workspaceId,
  webhookId,
  types,
  senders: senders ?? [],
  fromAt: from.at,
  fromId: from.id,
  toAt: to.at,
  toId: to.id,
  scan,
})

const counting = perCoverage(
  (covers, hasSenders): Statement<typeof coverageParameters> =>
    statement(
      coverageParameters,
      (places) => `with ${reachSql(places)}
     select c.found, ${positionSql('reach.created_at', 'reach.id')} as reached, reach.more
     from reach cross join lateral (
       select count(*)::int as found from events e where ${coveredSql(covers, hasSenders, places)}) as c`,
    ),
)

export interface Counted {
  found: number
  reached: Position
  more: boolean
}

/** Counts the covered ones among the next `scan` events. `more` is false at the end of the range. */
export async function countCovered(db: Db, coverage: Coverage, scan: number): Promise<Counted> {
  const row = await withOrderedLookups(db, (tx) =>
    counting(coverage).first<Counted>(tx, coverageValues(coverage, scan)),
  )
  if (!row) throw new Error('a count has one row')
  return row
}
