import type { EventType } from '@parley/contract/events'
import type { Db } from '../../db/db.ts'
import { newUuid, withoutPrefix } from '../../lib/ids.ts'
import { tallyOf } from '../../lib/tally.ts'
import { courierOf, wakeCourier } from './couriers.ts'
import { insertEvents } from './deliveries.sql.ts'

/** Something that happened, not yet told to anybody. */
export interface NewEvent {
  workspaceId: string
  type: EventType
  data: object
}

/**
 * Publishes events: call it with the transaction that records what they tell, so that both are kept or neither. The body
 * is made here, once, as the bytes that every attempt signs and sends. Where this process delivers, it takes the first
 * attempts upon itself: they are leased to it as they are written, and begin when the transaction is committed.
 */
export async function publish(db: Db, now: Date, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const rows = events.map(({ workspaceId, type, data }) => {
    const id = newUuid(now.getTime())
    const body = Buffer.from(JSON.stringify({ id, type, created_at: now.toISOString(), data }))
    return { id, workspaceId, type, body, messageId: messageOf(data) }
  })
  for (const workspaceId of new Set(events.map((event) => event.workspaceId))) {
    db.tell(workspaceId, 'messages')
    db.tell(workspaceId, 'deliveries')
  }
  db.afterCommit(() => {
    for (const { type } of events) tallyOf(db.root).add('events', type)
  })
  const courier = courierOf(db)
  const lease = courier?.newLease(now) ?? { token: null, until: now }
  const written = await insertEvents(db, now, rows, lease)
  if (!courier || lease.token === null) {
    for (const workspaceId of new Set(events.map((event) => event.workspaceId))) wakeCourier(db, workspaceId)
    return
  }
  const { token, until } = lease
  const byId = new Map(rows.map((row) => [row.id, row]))
  const items = written.flatMap(({ eventId, webhookId, leased }) => {
    const event = leased ? byId.get(eventId) : undefined
    if (!event) return []
    const { workspaceId, type, body } = event
    const begin = { attempts: 0, trigger: 'first' as const, lease: token, leaseUntilMs: until.getTime() }
    return [{ eventId, webhookId, workspaceId, eventCreatedAt: now, type, body, ...begin }]
  })
  const revision = written[0]?.revision ?? 0
  if (items.length > 0) db.afterCommit(() => courier.take(items, revision))
}

/** Every event tells of a message. */
function messageOf(data: object): string | null {
  const { message_id: id } = data as { message_id?: unknown }
  return (typeof id === 'string' && withoutPrefix('msg', id)) || null
}
