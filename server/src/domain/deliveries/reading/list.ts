import type { Delivery, DeliveryFilter, DeliveryList, DeliveryQuery } from '@parley/contract/console/deliveries'
import type { Db } from '../../../db/db.ts'
import { isUuid, withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import { refuseParam } from '../../../lib/refuse.ts'
import { requireEndpoint } from '../endpoint.ts'
import {
  type DeliveryListQuery,
  type DeliveryListRow,
  deliveriesOf,
  eventsPage,
  finishedPage,
  openPage,
  type Place,
} from './list.sql.ts'

/**
 * With an event type in mind, what fits may be far apart. So much is looked at in a go, and no more than so many times;
 * then we say how far we came.
 */
const goTake = 200
const gosMax = 5
/** Events are looked through quickly; at first only a few, for most often what is asked for is among them. */
const eventsLook = (go: number): number => (go === 1 ? 2_000 : 25_000)

/**
 * A page of a workspace's deliveries, the newest first: one that is finished by its last attempt, one that is not by its
 * event. Deliveries of one type are found by their events, and stand in the order of those, unless a state is asked for
 * that few have.
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
  if (type !== undefined && !isByEvent) input.take = Math.max(goTake, input.take)
  const placeOf = isByEvent ? eventPlace : ownPlace
  const found: DeliveryListRow[] = []
  for (let go = 1; ; go++) {
    const { rows, next } = isByEvent ? await byType(db, input, type, eventsLook(go)) : await byState(db, input, state)
    found.push(...rows.filter((row) => fits(row, type, state)))
    const last = found[limit - 1]
    if (found.length > limit && last) return toList(found.slice(0, limit), placeOf(last))
    if (!next || go === gosMax) return toList(found, next)
    input.after = next
  }
}

interface Found {
  rows: DeliveryListRow[]
  /** Where to go on; null if that was all. */
  next: Place | null
}

/** Open and finished deliveries lie in two tables, each in its order: the newest of both. */
async function byState(db: Db, input: DeliveryListQuery, filter: DeliveryFilter | null): Promise<Found> {
  const [open, finished] = await Promise.all([
    filter === null || filter === 'waiting' || filter === 'held' ? openPage(db, input, filter) : [],
    filter === null || filter === 'delivered' || filter === 'failed' ? finishedPage(db, input, filter) : [],
  ])
  const rows = [...open, ...finished].sort(byPlace).slice(0, input.take)
  const last = rows.at(-1)
  return { rows, next: last && rows.length === input.take ? ownPlace(last) : null }
}

async function byType(db: Db, input: DeliveryListQuery, type: string, look: number): Promise<Found> {
  const { events, last } = await eventsPage(db, input, type, look)
  const all = events.length === 0 ? [] : await deliveriesOf(db, input, type, events)
  const { after } = input
  const rows = all.filter((row) => row.eventId !== after?.eventId || row.webhookId < after.webhookId)
  return { rows, next: last && { at: last.createdAt, eventId: last.id, webhookId: noId } }
}

/** Before every other. */
const noId = '00000000-0000-0000-0000-000000000000'

const fits = (row: DeliveryListRow, type: string | undefined, state: DeliveryFilter | null): boolean =>
  (type === undefined || row.type === type) && (state !== 'delivered' || row.state === 'delivered')

function byPlace(left: DeliveryListRow, right: DeliveryListRow): number {
  const [a, b] = [ownPlace(left), ownPlace(right)]
  return b.at.getTime() - a.at.getTime() || compare(b.eventId, a.eventId) || compare(b.webhookId, a.webhookId)
}

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

/** The first twelve digits of an event's id are its time. */
function ownPlace({ state, lastAt, eventId, webhookId }: DeliveryListRow): Place {
  const isFinished = lastAt !== null && (state === 'delivered' || state === 'failed')
  const at = isFinished ? lastAt : new Date(Number.parseInt(eventId.slice(0, 8) + eventId.slice(9, 13), 16))
  return { at, eventId, webhookId }
}

const eventPlace = ({ createdAt, eventId, webhookId }: DeliveryListRow): Place => ({
  at: createdAt,
  eventId,
  webhookId,
})

const toList = (rows: readonly DeliveryListRow[], next: Place | null): DeliveryList => ({
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

const writeCursor = ({ at, eventId, webhookId }: Place): string =>
  Buffer.from(`${at.getTime()}.${eventId}.${withPrefix('whk', webhookId)}`).toString('base64url')

function readCursor(cursor: string): Place {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, time, eventId = '', id = ''] = /^(\d{1,14})\.([^.]+)\.([^.]+)$/.exec(text) ?? []
  const webhookId = withoutPrefix('whk', id)
  if (!time || !isUuid(eventId) || webhookId === undefined) {
    refuseParam('cursor', 'invalid', 'The cursor is not one of this list; use next_cursor of the page before.')
  }
  return { at: new Date(Number(time)), eventId, webhookId }
}
