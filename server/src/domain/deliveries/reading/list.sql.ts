import type { DeliveryState } from '@parley/contract/console/deliveries'
import type { Db } from '../../../db/db.ts'
import { withPlannerSettingsOff } from '../../../db/planner-settings.ts'
import { type Places, statement } from '../../../db/statement.ts'
import { firstIdAt, lastIdAt } from '../../../lib/ids.ts'
import { deliveryState, heldSince, isHeld, isManualNow, lastAttempt, nextAttemptAt } from './delivery-state.sql.ts'
import { frequentTypes, isRare } from './events.sql.ts'

export interface DeliveryListRow {
  event_id: string
  webhook_id: string
  webhook_name: string
  event_type: string | null
  state: DeliveryState
  created_at: Date
  attempts: number
  /** How many attempts of the current schedule were made, or of the last one if it is finished. */
  attempt: number
  last_attempt_at: Date | null
  last_status: number | null
  last_error: string | null
  last_duration_us: number | null
  next_attempt_at: Date | null
  held_since: Date | null
}

/** The position of the last row of a page. */
export interface Cursor {
  at: Date
  eventId: string
  webhookId: string
}

/** Makes PostgreSQL walk the index and look up joined rows one by one. A page must never join or sort a whole table. */
export const rowByRow = <T>(db: Db, read: (tx: Db) => Promise<T>): Promise<T> =>
  withPlannerSettingsOff(['sort', 'seqscan', 'bitmapscan', 'hashjoin', 'mergejoin'], db, read)

export interface DeliveryListQuery {
  workspaceId: string
  webhookIds: readonly string[] | null
  eventId: string | null
  since: Date | null
  until: Date | null
  after: Cursor | null
  take: number
}

/** A statement includes only the conditions that are set, so that each combination gets a plan that uses an index. */
export const parameters = {
  workspaceId: 'uuid',
  webhookIds: 'uuid[]',
  eventId: 'uuid',
  since: 'timestamptz',
  until: 'timestamptz',
  afterAt: 'timestamptz',
  afterEventId: 'uuid',
  afterWebhookId: 'uuid',
  // An event's ID begins with its time: these are the first and the last ID of a millisecond.
  sinceId: 'uuid',
  untilId: 'uuid',
  afterFirstId: 'uuid',
  afterLastId: 'uuid',
  take: 'int',
} as const

export const valuesOf = ({ after, ...input }: DeliveryListQuery) => ({
  ...input,
  afterAt: after?.at,
  afterEventId: after?.eventId,
  afterWebhookId: after?.webhookId,
  sinceId: input.since && firstIdAt(input.since),
  untilId: input.until && lastIdAt(input.until),
  afterFirstId: after && firstIdAt(after.at),
  afterLastId: after && lastIdAt(after.at),
})

/**
 * Open deliveries by event ID, newest first. Those of a disabled endpoint that wait are few among many that are held, so they
 * are found by the index of manual deliveries and then sorted: `offset 0` keeps PostgreSQL from reading all in the right order.
 */
export function openPage(
  db: Db,
  input: DeliveryListQuery,
  state: 'waiting' | 'held' | null,
): Promise<DeliveryListRow[]> {
  const { eventId, since, until, after } = input
  const listing = statement(parameters, (param) => {
    const range = [
      eventId && `d.event_id = ${param.eventId}`,
      since && `d.event_id >= ${param.sinceId}`,
      until && `d.event_id <= ${param.untilId}`,
      after && `d.event_id <= ${param.afterLastId}`,
      after &&
        `(d.event_id < ${param.afterFirstId}
          or (d.event_id, d.webhook_id) < (${param.afterEventId}, ${param.afterWebhookId}))`,
    ]
    const ofEndpoint = `select * from deliveries d
         where d.webhook_id = w.id and d.workspace_id = ${param.workspaceId}`
    const page = `order by d.event_id desc limit ${param.take}`
    const manualOfDisabled = `select * from (
           ${ofEndpoint} and not w.enabled and ${isManualNow} ${all(range)} offset 0) as d ${page}`
    return `select d.event_id, d.webhook_id, d.name as webhook_name, e.type as event_type,
       ${deliveryState} as state, d.event_created_at as created_at, coalesce(l.made, 0) as attempts, d.attempts as attempt,
       ${lastColumns}, ${nextAttemptAt} as next_attempt_at, ${heldSince} as held_since
     from (
       select d.*, w.name, w.enabled, w.disabled_at from webhooks w
       cross join lateral (
         (${ofEndpoint} ${all([state === 'waiting' ? 'w.enabled' : state === 'held' && isHeld, ...range])} ${page})
         ${state === 'waiting' ? `union all (${manualOfDisabled})` : ''}) as d
       where ${endpoints(input, param)}
       order by d.event_id desc, d.webhook_id desc limit ${param.take}
     ) as d
     cross join lateral (select d.enabled, d.disabled_at) as w
     ${eventOf('d')}
     ${lastAttempt('d.event_id', 'd.webhook_id', 'd.event_created_at')}
     order by d.event_id desc, d.webhook_id desc`
  })
  return rowByRow(db, (tx) => listing.rows(tx, valuesOf(input)))
}

/**
 * The delivery of the attempt `a` has no later attempt and is not open again. `is true` keeps PostgreSQL from using the endpoint's
 * index to look for a later attempt: the event has a few attempts, the endpoint has all of them.
 */
export const isFinished = `not exists (select 1 from delivery_attempts l
             where l.event_id = a.event_id and (l.webhook_id = a.webhook_id) is true and l.at >= a.at
               and (l.at, l.number) > (a.at, a.number))
           and not exists (select 1 from deliveries d where d.webhook_id = a.webhook_id and d.event_id = a.event_id)`

/** Finished deliveries by the time of their last attempt, newest first. */
export function finishedPage(
  db: Db,
  input: DeliveryListQuery,
  state: 'delivered' | 'failed' | null,
): Promise<DeliveryListRow[]> {
  const { eventId, since, until, after } = input
  const listing = statement(parameters, (param) => {
    const conditions = [
      // The state is a literal, so that the partial index of failures can be used.
      state ? `a.state = '${state}'` : `a.state in ('delivered', 'failed')`,
      eventId && `a.event_id = ${param.eventId}`,
      since && `a.at >= ${param.since}`,
      until && `a.at <= ${param.until}`,
      after && `a.at <= ${param.afterAt}`,
      after &&
        `(a.at < ${param.afterAt} or (a.event_id, a.webhook_id) < (${param.afterEventId}, ${param.afterWebhookId}))`,
    ]
    return `select x.event_id, x.webhook_id, x.name as webhook_name, e.type as event_type, x.state,
       x.event_created_at as created_at, made.count as attempts, x.number as attempt, x.at as last_attempt_at,
       x.status as last_status, x.error as last_error, x.duration_us as last_duration_us, null as next_attempt_at,
       null as held_since
     from (
       select a.*, w.name from webhooks w
       cross join lateral (
         select a.event_id, a.webhook_id, a.event_created_at, a.at, a.number, a.state, a.status, a.error, a.duration_us
         from delivery_attempts a
         where a.webhook_id = w.id and a.workspace_id = ${param.workspaceId} ${all(conditions)}
           and ${isFinished}
         order by a.at desc, a.event_id desc limit ${param.take}) as a
       where ${endpoints(input, param)}
       order by a.at desc, a.event_id desc, a.webhook_id desc limit ${param.take}
     ) as x
     ${eventOf('x')}
     cross join lateral (select count(*) from delivery_attempts a
       where a.event_id = x.event_id and (a.webhook_id = x.webhook_id) is true and a.at >= x.event_created_at) as made
     order by x.at desc, x.event_id desc, x.webhook_id desc`
  })
  return rowByRow(db, (tx) => listing.rows(tx, valuesOf(input)))
}

export interface ListedEvent {
  id: string
  createdAt: Date
  type: string
}

/**
 * Events of some types, newest first, and the last event that was scanned if there may be more. For a frequent type, and for
 * several, it scans the newest events, at most `scanLimit`; one rare type has a partial index.
 */
export async function eventsPage(
  db: Db,
  input: DeliveryListQuery,
  types: readonly string[],
  scanLimit: number,
): Promise<{ events: ListedEvent[]; last: ListedEvent | null }> {
  const { eventId, since, until, after } = input
  const conditions = (param: Places<typeof parameters>) =>
    all([
      eventId && `e.id = ${param.eventId}`,
      since && `e.created_at >= ${param.since}`,
      until && `e.created_at <= ${param.until}`,
      after && `e.created_at <= ${param.afterAt}`,
      // Includes the event of the cursor, which may have more deliveries.
      after && `(e.created_at < ${param.afterAt} or e.id <= ${param.afterEventId})`,
    ])
  const newest = 'order by e.created_at desc, e.id desc'
  const [type = ''] = types
  if (types.length === 1 && !frequentTypes.includes(type)) {
    const listing = statement(
      { ...parameters, type: 'text' },
      (param) => `select e.id, e.created_at as "createdAt", e.type from events e
       where e.workspace_id = ${param.workspaceId} and e.type = ${param.type} and ${isRare} ${conditions(param)} ${newest}
       limit ${param.take}`,
    )
    const events = await listing.rows<ListedEvent>(db, { ...valuesOf(input), type })
    return { events, last: events.length < input.take ? null : (events.at(-1) ?? null) }
  }
  const scan = statement(
    { ...parameters, types: 'text[]', scanLimit: 'int' },
    (param) => `with scanned as materialized (
       select e.id, e.created_at, e.type, e.type = any(${param.types}) as matches from events e
       where e.workspace_id = ${param.workspaceId} ${conditions(param)} ${newest} limit ${param.scanLimit}
     )
     select f.id, f.created_at as "createdAt", f.type, true as matches, 0 as count
     from (select * from scanned e where e.matches ${newest} limit ${param.take}) as f
     union all
     select l.id, l.created_at, l.type, false, (select count(*) from scanned)
     from (select * from scanned order by created_at, id limit 1) as l
     order by "createdAt" desc, id desc`,
  )
  const rows = await scan.rows<ListedEvent & { matches: boolean; count: number }>(db, {
    ...valuesOf(input),
    types,
    scanLimit,
  })
  const events = rows.filter(({ matches }) => matches)
  const last = rows.find(({ matches }) => !matches)
  if (events.length === input.take) return { events, last: events.at(-1) ?? null }
  return { events, last: last && last.count >= scanLimit ? last : null }
}

/** The deliveries of these events, open or finished, in the order of the events. */
export function deliveriesOf(
  db: Db,
  input: DeliveryListQuery,
  events: readonly ListedEvent[],
): Promise<DeliveryListRow[]> {
  const listing = statement(
    { ...parameters, events: { id: 'uuid', createdAt: 'timestamptz', type: 'text' } },
    (param) => `select e.id as event_id, w.id as webhook_id, w.name as webhook_name, e.type as event_type,
       ${deliveryState} as state, e.created_at, coalesce(l.made, 0) as attempts, coalesce(d.attempts, l.number) as attempt,
       ${lastColumns}, ${nextAttemptAt} as next_attempt_at, ${heldSince} as held_since
     from (select * from ${param.events}) as e
     cross join webhooks w
     left join deliveries d on d.webhook_id = w.id and d.event_id = e.id
     ${lastAttempt('e.id', 'w.id', 'e.created_at')}
     where ${endpoints(input, param)} and (d.event_id is not null or l.state is not null)
     order by e.created_at desc, e.id desc, w.id desc`,
  )
  return listing.rows(db, { ...valuesOf(input), events })
}

/** The columns of its last attempt `l`. */
const lastColumns =
  'l.at as last_attempt_at, l.status as last_status, l.error as last_error, l.duration_us as last_duration_us'

/** Joins the event of a delivery. Its columns are null if the event is past retention. */
const eventOf = (row: string): string => `left join lateral (select e.type from events e
    where e.id = ${row}.event_id and e.created_at = ${row}.event_created_at limit 1) as e on true`

const all = (conditions: readonly (string | false | null)[]): string =>
  conditions
    .filter(Boolean)
    .map((condition) => `and ${condition}`)
    .join(' ')

/** The condition of the endpoints `w` of a query. */
export const endpoints = (
  { webhookIds }: Pick<DeliveryListQuery, 'webhookIds'>,
  param: Pick<Places<typeof parameters>, 'workspaceId' | 'webhookIds'>,
): string =>
  `w.workspace_id = ${param.workspaceId} and w.deleted_at is null ${webhookIds === null ? '' : `and w.id = any(${param.webhookIds})`}`
