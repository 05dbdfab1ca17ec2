import { type DeliveryFilter, type DeliveryFilters, deliveryFilters } from '@parley/contract/console/deliveries'
import { valuesOf } from '@parley/contract/console/list'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { refuseParam } from '../../lib/refuse.ts'
import type { Cursor } from './reading/list.sql.ts'
import { findDeliveries, readCursor, writeCursor } from './reading/list.ts'
import { retryAll } from './retry.ts'

/** How many deliveries one request retries: a transaction of well under a tenth of a second. */
const batchSize = 500

/** Open ones come first. A finished delivery that is retried is open afterwards, and must not be found a second time. */
const order: readonly DeliveryFilter[] = ['waiting', 'held', 'failed', 'delivered']

/** How far the retries have come. Deliveries that were attempted after `askedAt` are left alone. */
interface Progress {
  askedAt: Date
  state: DeliveryFilter
  after: Cursor | null
}

/**
 * Retries the next deliveries that match, newest first. Returns how many, and the cursor for the rest; null at the end. A
 * filter by type may retry none although more follow.
 */
export async function retryMatching(
  db: Db,
  clock: Clock,
  workspaceId: string,
  { filters, cursor }: { filters: DeliveryFilters; cursor?: string | undefined },
): Promise<{ retried: number; next_cursor: string | null }> {
  const asked = valuesOf<DeliveryFilter>(filters.state) ?? deliveryFilters
  const states = order.filter((state) => asked.includes(state))
  const start = cursor === undefined ? null : readProgress(cursor)
  const askedAt = start?.askedAt ?? clock.now()
  const until = filters.until && new Date(filters.until) < askedAt ? filters.until : askedAt.toISOString()
  const deliveries: { webhookId: string; eventId: string }[] = []
  let next: string | null = null
  for (const state of start ? states.slice(states.indexOf(start.state)) : states) {
    const after: Cursor | null = state === start?.state ? start.after : null
    const limit = batchSize - deliveries.length
    if (limit === 0) next = writeProgress({ askedAt, state, after })
    else {
      const found = await findDeliveries(db, workspaceId, { ...filters, until, state }, { limit, after })
      for (const { event_id: eventId, webhook_id: webhookId, last_attempt_at: lastAt } of found.rows) {
        if (lastAt === null || lastAt <= askedAt) deliveries.push({ eventId, webhookId })
      }
      if (found.next) next = writeProgress({ askedAt, state, after: found.next })
    }
    if (next) break
  }
  const retried = deliveries.length === 0 ? 0 : await retryAll(db, workspaceId, deliveries, clock.now())
  return { retried, next_cursor: next }
}

const writeProgress = ({ askedAt, state, after }: Progress): string =>
  `${askedAt.getTime()}.${state}.${after ? writeCursor(after) : ''}`

function readProgress(cursor: string): Progress {
  const [, askedAt, name, after] = /^(\d{1,14})\.([a-z]+)\.([\w-]*)$/.exec(cursor) ?? []
  const state = order.find((each) => each === name)
  if (!askedAt || !state)
    return refuseParam('cursor', 'invalid', 'Invalid cursor. Use the next_cursor of the response.')
  return { askedAt: new Date(Number(askedAt)), state, after: after ? readCursor(after) : null }
}
