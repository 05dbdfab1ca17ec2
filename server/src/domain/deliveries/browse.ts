import type { Delivery, DeliveryFilter, DeliveryList, DeliveryQuery } from '@parley/contract/console/deliveries'
import type { Db } from '../../db/db.ts'
import { isUuid, withoutPrefix, withPrefix } from '../../lib/ids.ts'
import { refuseParam } from '../../lib/refuse.ts'
import { requireWebhook } from '../webhooks/webhooks.ts'
import { type BrowsedRow, finishedPage, openPage, type Place, type Wish } from './browse.sql.ts'

/** With an event type in mind so many deliveries are looked at in a go, and no more than so many times: then we say how far we came. */
const goTake = 2_000
const gosMax = 12

/**
 * A page of a workspace's deliveries, the newest first: one that is finished by its last attempt, one that is not by its
 * event. Open and finished ones lie in two tables, each in its order; a page is the newest of both.
 */
export async function browseDeliveries(db: Db, workspaceId: string, query: DeliveryQuery): Promise<DeliveryList> {
  const limit = query.limit ?? 50
  if (query.event !== undefined && !isUuid(query.event)) return toList([], null)
  const wish: Wish = {
    workspaceId,
    webhookId: query.webhook === undefined ? null : (await requireWebhook(db, query.webhook, workspaceId)).uuid,
    eventId: query.event ?? null,
    since: query.since === undefined ? null : new Date(query.since),
    until: query.until === undefined ? null : new Date(query.until),
    after: query.cursor === undefined ? null : readCursor(query.cursor),
    take: query.type === undefined ? limit + 1 : goTake,
  }
  const found: BrowsedRow[] = []
  for (let go = 1; ; go++) {
    const rows = await newestOf(db, wish, query.state ?? null)
    found.push(...rows.filter((row) => query.type === undefined || row.type === query.type))
    const last = rows.at(-1)
    const isAll = rows.length < wish.take || !last
    if (found.length > limit) return toList(found.slice(0, limit), placeOf(found[limit - 1] as BrowsedRow))
    if (isAll || go === gosMax) return toList(found, isAll ? null : placeOf(last))
    wish.after = placeOf(last)
  }
}

async function newestOf(db: Db, wish: Wish, filter: DeliveryFilter | null): Promise<BrowsedRow[]> {
  const [open, finished] = await Promise.all([
    filter === null || filter === 'waiting' || filter === 'held' ? openPage(db, wish, filter) : [],
    filter === null || filter === 'delivered' || filter === 'failed' ? finishedPage(db, wish, filter) : [],
  ])
  return [...open, ...finished].sort(byPlace).slice(0, wish.take)
}

function byPlace(left: BrowsedRow, right: BrowsedRow): number {
  const [a, b] = [placeOf(left), placeOf(right)]
  return b.at.getTime() - a.at.getTime() || compare(b.eventId, a.eventId) || compare(b.webhookId, a.webhookId)
}

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

/** The first twelve digits of an event's id are its time. */
function placeOf({ state, lastAt, eventId, webhookId }: BrowsedRow): Place {
  const isFinished = lastAt !== null && (state === 'delivered' || state === 'failed')
  const at = isFinished ? lastAt : new Date(Number.parseInt(eventId.slice(0, 8) + eventId.slice(9, 13), 16))
  return { at, eventId, webhookId }
}

const toList = (rows: readonly BrowsedRow[], next: Place | null): DeliveryList => ({
  object: 'list',
  data: rows.map(toDelivery),
  has_more: next !== null,
  next_cursor: next && writeCursor(next),
  looked_back_to: next?.at.toISOString() ?? null,
})

export const toDelivery = (row: BrowsedRow): Delivery => ({
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
