import {
  type Delivery,
  type DeliveryFilter,
  type DeliveryFilters,
  type DeliveryList,
  type DeliveryQuery,
  deliveryFilters,
} from '@parley/contract/console/deliveries'
import { type ListTotal, valuesOf } from '@parley/contract/console/list'
import { boundedTotal } from '../../../db/bounded-total.ts'
import type { Db } from '../../../db/db.ts'
import { exportCsv } from '../../../lib/csv-export.ts'
import { isUuid, withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import { isoTimes } from '../../../lib/iso-times.ts'
import { refuseParam } from '../../../lib/refuse.ts'
import { endpointIds } from '../endpoint.ts'
import { attemptsMaxOf } from '../engine/attempt/retry-policy.ts'
import { countDeliveries } from './count.sql.ts'
import {
  type Cursor,
  type DeliveryListQuery,
  type DeliveryListRow,
  deliveriesOf,
  eventsPage,
  finishedPage,
  openPage,
} from './list.sql.ts'

/**
 * Rows of a given event type may be far apart. A request reads at most `batchesMax` batches and then returns how far it got,
 * so that its time is bounded.
 */
const batchSize = 200
const batchesMax = 5
/** Scanning events is fast. The first scan is short because most often it finds enough. */
const eventsToScan = (batch: number): number => (batch === 1 ? 2_000 : 25_000)

/**
 * A page of a workspace's deliveries, newest first. A finished delivery is ordered by the time of its last attempt, an open
 * one by its event. With a type, deliveries are found through their events and ordered by them, unless the filter is a state
 * that few deliveries have.
 */
export async function listConsoleDeliveries(
  db: Db,
  workspaceId: string,
  { limit = 50, cursor, ...filters }: DeliveryQuery,
): Promise<DeliveryList> {
  const { rows, next } = await findDeliveries(db, workspaceId, filters, {
    limit,
    after: cursor === undefined ? null : readCursor(cursor),
  })
  return toList(rows, next)
}

export async function totalOfDeliveries(db: Db, workspaceId: string, filters: DeliveryFilters): Promise<ListTotal> {
  const { types, states, ...input } = await toInput(db, workspaceId, filters)
  if (input.eventId === noEvent) return { total: 0, total_is_exact: true }
  return boundedTotal(db, (tx, atMost) =>
    countDeliveries(tx, { ...input, types, states: states ?? new Set(deliveryFilters), atMost }),
  )
}

interface FoundDeliveries {
  rows: DeliveryListRow[]
  next: Cursor | null
}

/** A page of deliveries, and where the next one starts. */
export async function findDeliveries(
  db: Db,
  workspaceId: string,
  filters: DeliveryFilters,
  { limit, after }: { limit: number; after: Cursor | null },
): Promise<FoundDeliveries> {
  const { types, states, ...found } = await toInput(db, workspaceId, filters)
  if (found.eventId === noEvent) return { rows: [], next: null }
  const input: DeliveryListQuery = { ...found, after, take: limit + 1 }
  const isByEvent = types !== null && (states === null || states.has('delivered'))
  if (types !== null && !isByEvent) input.take = Math.max(batchSize, input.take)
  const toCursor = isByEvent ? eventCursorOf : cursorOf
  const rows: DeliveryListRow[] = []
  for (let batch = 1; ; batch++) {
    const { rows: some, next } = isByEvent
      ? await byType(db, input, types, eventsToScan(batch))
      : await byState(db, input, states)
    rows.push(...some.filter((row) => matches(row, types, states)))
    const last = rows[limit - 1]
    if (rows.length > limit && last) return { rows: rows.slice(0, limit), next: toCursor(last) }
    if (!next || batch === batchesMax) return { rows, next }
    input.after = next
  }
}

type States = ReadonlySet<DeliveryFilter> | null

async function toInput(db: Db, workspaceId: string, filters: DeliveryFilters) {
  const states = valuesOf<DeliveryFilter>(filters.state)
  return {
    workspaceId,
    webhookIds: await endpointIds(db, workspaceId, filters.webhook),
    eventId: filters.event === undefined ? null : isUuid(filters.event) ? filters.event : noEvent,
    since: filters.since === undefined ? null : new Date(filters.since),
    until: filters.until === undefined ? null : new Date(filters.until),
    types: valuesOf(filters.type) ?? null,
    states: states === undefined ? null : new Set(states),
  }
}

/** For a text that is not an ID. */
const noEvent = ''

interface Batch {
  rows: DeliveryListRow[]
  /** Where the next batch starts; null at the end. */
  next: Cursor | null
}

/**
 * Open and finished deliveries are in two tables with an order of their own: merges the newest of both. A delivery that
 * ends between the two statements is in both results, so the finished ones are read last and count.
 */
async function byState(db: Db, input: DeliveryListQuery, states: States): Promise<Batch> {
  const open = await readOne(states, ['waiting', 'held'] as const, (state) => openPage(db, input, state))
  const finished = await readOne(states, ['delivered', 'failed'] as const, (state) => finishedPage(db, input, state))
  const ended = new Set(finished.map(keyOf))
  const rows = [...open.filter((row) => !ended.has(keyOf(row))), ...finished].sort(newestFirst).slice(0, input.take)
  const last = rows.at(-1)
  return { rows, next: last && rows.length === input.take ? cursorOf(last) : null }
}

const keyOf = ({ event_id, webhook_id }: DeliveryListRow): string => `${event_id} ${webhook_id}`

/** Reads one of two states, or both with null, or nothing if neither is asked for. */
function readOne<State extends DeliveryFilter>(
  states: States,
  both: readonly [State, State],
  read: (state: State | null) => Promise<DeliveryListRow[]>,
): Promise<DeliveryListRow[]> {
  const asked = both.filter((state) => states === null || states.has(state))
  return asked.length === 0 ? Promise.resolve([]) : read(asked.length === 2 ? null : (asked[0] ?? null))
}

async function byType(db: Db, input: DeliveryListQuery, types: readonly string[], scanLimit: number): Promise<Batch> {
  const { events, last } = await eventsPage(db, input, types, scanLimit)
  const all = events.length === 0 ? [] : await deliveriesOf(db, input, events)
  const { after } = input
  const rows = all.filter((row) => row.event_id !== after?.eventId || row.webhook_id < after.webhookId)
  return { rows, next: last && { at: last.createdAt, eventId: last.id, webhookId: noId } }
}

/** Sorts before every other ID. */
const noId = '00000000-0000-0000-0000-000000000000'

const matches = (row: DeliveryListRow, types: readonly string[] | null, states: States): boolean =>
  (types === null || types.includes(row.event_type ?? '')) &&
  (states === null || states.has(row.state === 'pending' || row.state === 'retrying' ? 'waiting' : row.state))

function newestFirst(left: DeliveryListRow, right: DeliveryListRow): number {
  const [a, b] = [cursorOf(left), cursorOf(right)]
  return b.at.getTime() - a.at.getTime() || compare(b.eventId, a.eventId) || compare(b.webhookId, a.webhookId)
}

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

/** The first twelve hex digits of an event's ID are its time. */
function cursorOf({
  state,
  last_attempt_at: lastAt,
  event_id: eventId,
  webhook_id: webhookId,
}: DeliveryListRow): Cursor {
  const isFinished = lastAt !== null && (state === 'delivered' || state === 'failed')
  const at = isFinished ? lastAt : new Date(Number.parseInt(eventId.slice(0, 8) + eventId.slice(9, 13), 16))
  return { at, eventId, webhookId }
}

const eventCursorOf = ({ created_at: at, event_id: eventId, webhook_id: webhookId }: DeliveryListRow): Cursor => ({
  at,
  eventId,
  webhookId,
})

const toList = (rows: readonly DeliveryListRow[], next: Cursor | null): DeliveryList => ({
  object: 'list',
  data: rows.map(toDelivery),
  has_more: next !== null,
  next_cursor: next && writeCursor(next),
  looked_back_to: next?.at.toISOString() ?? null,
})

const toDelivery = ({ last_duration_us: durationUs, ...row }: DeliveryListRow): Delivery => ({
  ...isoTimes(row),
  webhook_id: withPrefix('whk', row.webhook_id),
  attempts_max: attemptsMaxOf(row.event_type),
  last_duration_ms: durationUs === null ? null : durationUs / 1000,
})

export const writeCursor = ({ at, eventId, webhookId }: Cursor): string =>
  Buffer.from(`${at.getTime()}.${eventId}.${withPrefix('whk', webhookId)}`).toString('base64url')

export function readCursor(cursor: string): Cursor {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, time, eventId = '', id = ''] = /^(\d{1,14})\.([^.]+)\.([^.]+)$/.exec(text) ?? []
  const webhookId = withoutPrefix('whk', id)
  if (!time || !isUuid(eventId) || webhookId === undefined) {
    refuseParam('cursor', 'invalid', 'Invalid cursor. Use the next_cursor of the previous page.')
  }
  return { at: new Date(Number(time)), eventId, webhookId }
}

/** Deliveries as CSV, in the order of the list. */
export const exportDeliveries = (db: Db, workspaceId: string, filters: DeliveryFilters): AsyncIterable<string> =>
  exportCsv({
    head: exported,
    read: (after: Cursor | null, limit) => findDeliveries(db, workspaceId, filters, { limit, after }),
    toLines(row) {
      const delivery = toDelivery(row)
      return [exported.map((column) => delivery[column])]
    },
  })

const exported = [
  ...(['event_id', 'event_type', 'created_at', 'webhook_id', 'webhook_name', 'state', 'attempts'] as const),
  ...(['last_attempt_at', 'last_status', 'last_error', 'last_duration_ms', 'next_attempt_at'] as const),
]
