import type { Delivery, DeliveryFilter, DeliveryList, DeliveryQuery } from '@parley/contract/console/deliveries'
import type { Db } from '../../../db/db.ts'
import { isUuid, withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import { refuseParam } from '../../../lib/refuse.ts'
import { requireEndpoint } from '../endpoint.ts'
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
export async function listConsoleDeliveries(db: Db, workspaceId: string, query: DeliveryQuery): Promise<DeliveryList> {
  const { limit = 50, type, state = null } = query
  if (query.event !== undefined && !isUuid(query.event)) return toList([], null)
  const input: DeliveryListQuery = {
    workspaceId,
    webhookId: query.webhook === undefined ? null : (await requireEndpoint(db, query.webhook, workspaceId)).uuid,
    eventId: query.event ?? null,
    since: query.since === undefined ? null : new Date(query.since),
    until: query.until === undefined ? null : new Date(query.until),
    after: query.cursor === undefined ? null : readCursor(query.cursor),
    take: limit + 1,
  }
  const isByEvent = type !== undefined && (state === null || state === 'delivered')
  if (type !== undefined && !isByEvent) input.take = Math.max(batchSize, input.take)
  const toCursor = isByEvent ? eventCursorOf : cursorOf
  const found: DeliveryListRow[] = []
  for (let batch = 1; ; batch++) {
    const { rows, next } = isByEvent
      ? await byType(db, input, type, eventsToScan(batch))
      : await byState(db, input, state)
    found.push(...rows.filter((row) => matches(row, type, state)))
    const last = found[limit - 1]
    if (found.length > limit && last) return toList(found.slice(0, limit), toCursor(last))
    if (!next || batch === batchesMax) return toList(found, next)
    input.after = next
  }
}

interface Batch {
  rows: DeliveryListRow[]
  /** Where the next batch starts; null at the end. */
  next: Cursor | null
}

/** Open and finished deliveries are in two tables with an order of their own: merges the newest of both. */
async function byState(db: Db, input: DeliveryListQuery, filter: DeliveryFilter | null): Promise<Batch> {
  const [open, finished] = await Promise.all([
    filter === null || filter === 'waiting' || filter === 'held' ? openPage(db, input, filter) : [],
    filter === null || filter === 'delivered' || filter === 'failed' ? finishedPage(db, input, filter) : [],
  ])
  const rows = [...open, ...finished].sort(newestFirst).slice(0, input.take)
  const last = rows.at(-1)
  return { rows, next: last && rows.length === input.take ? cursorOf(last) : null }
}

async function byType(db: Db, input: DeliveryListQuery, type: string, scanLimit: number): Promise<Batch> {
  const { events, last } = await eventsPage(db, input, type, scanLimit)
  const all = events.length === 0 ? [] : await deliveriesOf(db, input, type, events)
  const { after } = input
  const rows = all.filter((row) => row.eventId !== after?.eventId || row.webhookId < after.webhookId)
  return { rows, next: last && { at: last.createdAt, eventId: last.id, webhookId: noId } }
}

/** Sorts before every other ID. */
const noId = '00000000-0000-0000-0000-000000000000'

const matches = (row: DeliveryListRow, type: string | undefined, state: DeliveryFilter | null): boolean =>
  (type === undefined || row.type === type) && (state !== 'delivered' || row.state === 'delivered')

function newestFirst(left: DeliveryListRow, right: DeliveryListRow): number {
  const [a, b] = [cursorOf(left), cursorOf(right)]
  return b.at.getTime() - a.at.getTime() || compare(b.eventId, a.eventId) || compare(b.webhookId, a.webhookId)
}

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

/** The first twelve hex digits of an event's ID are its time. */
function cursorOf({ state, lastAt, eventId, webhookId }: DeliveryListRow): Cursor {
  const isFinished = lastAt !== null && (state === 'delivered' || state === 'failed')
  const at = isFinished ? lastAt : new Date(Number.parseInt(eventId.slice(0, 8) + eventId.slice(9, 13), 16))
  return { at, eventId, webhookId }
}

const eventCursorOf = ({ createdAt, eventId, webhookId }: DeliveryListRow): Cursor => ({
  at: createdAt,
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

export const toDelivery = (row: DeliveryListRow): Delivery => ({
  event_id: row.eventId,
  webhook_id: withPrefix('whk', row.webhookId),
  webhook_name: row.webhookName,
  event_type: row.type,
  state: row.state,
  created_at: row.createdAt.toISOString(),
  attempts: row.attempts,
  last_attempt_at: row.lastAt?.toISOString() ?? null,
  last_status: row.status,
  last_error: row.error,
  last_duration_ms: row.durationUs === null ? null : row.durationUs / 1000,
  next_attempt_at: row.dueAt?.toISOString() ?? null,
})

const writeCursor = ({ at, eventId, webhookId }: Cursor): string =>
  Buffer.from(`${at.getTime()}.${eventId}.${withPrefix('whk', webhookId)}`).toString('base64url')

function readCursor(cursor: string): Cursor {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, time, eventId = '', id = ''] = /^(\d{1,14})\.([^.]+)\.([^.]+)$/.exec(text) ?? []
  const webhookId = withoutPrefix('whk', id)
  if (!time || !isUuid(eventId) || webhookId === undefined) {
    refuseParam('cursor', 'invalid', 'Invalid cursor. Use the next_cursor of the previous page.')
  }
  return { at: new Date(Number(time)), eventId, webhookId }
}
