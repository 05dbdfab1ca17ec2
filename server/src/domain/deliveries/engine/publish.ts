import type { EventType } from '@parley/contract/events'
import type { Db } from '../../../db/db.ts'
import { wakeAnywhere } from '../../../db/wake.ts'
import type { Lease } from '../../../lib/first-attempts.ts'
import { newUuid, withoutPrefix } from '../../../lib/ids.ts'
import { type EventRow, insertEvents, insertTestEvent, type PublishedDelivery } from './publish.sql.ts'
import { attemptsMax } from './retry-policy.ts'

export { insertEventsSql, type PublishedDelivery } from './publish.sql.ts'

/** Something that happened, not yet told to anybody. */
export interface NewEvent {
  workspaceId: string
  type: EventType
  data: object
}

/** Events about to be written, with the lease that their deliveries are written under. */
export interface Prepared {
  createdAt: Date
  rows: readonly EventRow[]
  lease: Lease
}

/**
 * Publishes events: call it with the transaction that records what they tell, so that both are kept or neither. Where this
 * process delivers, it takes the first attempts upon itself: they are leased to it as they are written, and begin when the
 * transaction is committed.
 */
export async function publish(db: Db, now: Date, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const prepared = prepareEvents(db, now, events)
  const written = await insertEvents(db, now, prepared.rows, prepared.lease)
  offerToWorker(db, prepared, written)
}

/**
 * Publishes an event for one endpoint alone, and returns its id. It is attempted once, even while the endpoint is disabled:
 * its schedule begins with the last attempt.
 */
export async function publishTest(
  db: Db,
  now: Date,
  { workspaceId, webhookId, type, data }: { workspaceId: string; webhookId: string; type: string; data: object },
): Promise<string> {
  const { id, body } = newEvent(now, type, data)
  await insertTestEvent(db, { id, workspaceId, webhookId, type, body, attempts: attemptsMax - 1, now })
  db.notify(workspaceId, 'deliveries')
  wakeAnywhere(db, 'deliveries', workspaceId)
  return id
}

/** The first half of publishing. */
export function prepareEvents(db: Db, now: Date, events: readonly NewEvent[]): Prepared {
  const rows = events.map(({ workspaceId, type, data }) => ({
    ...newEvent(now, type, data),
    workspaceId,
    type,
    messageId: messageOf(data),
  }))
  const lease = db.process.firstAttempts?.newLease(now) ?? { token: null, until: now, except: [] }
  return { createdAt: now, rows, lease }
}

/** The second: of what was prepared, these were written, with these deliveries. */
export function offerToWorker(
  db: Db,
  { createdAt, rows, lease: { token, until } }: Prepared,
  written: readonly PublishedDelivery[],
): void {
  for (const workspaceId of new Set(rows.map((row) => row.workspaceId))) {
    db.notify(workspaceId, 'messages')
    db.notify(workspaceId, 'deliveries')
  }
  db.afterCommit(() => {
    for (const { type } of rows) db.process.metrics.add('events', type)
  })
  const worker = db.process.firstAttempts
  if (!worker || token === null) {
    for (const workspaceId of new Set(rows.map((row) => row.workspaceId))) wakeAnywhere(db, 'deliveries', workspaceId)
    return
  }
  const byId = new Map(rows.map((row) => [row.id, row]))
  const items = written.flatMap(({ eventId, webhookId, leased }) => {
    const event = leased ? byId.get(eventId) : undefined
    if (!event) return []
    const { workspaceId, type, body } = event
    const begin = { attempts: 0, trigger: 'first' as const, lease: token, leaseUntilMs: until.getTime() }
    return [{ eventId, webhookId, workspaceId, eventCreatedAt: createdAt, type, body, ...begin }]
  })
  if (items.length > 0) db.afterCommit(() => worker.take(items))
}

/** The body is made once, as the bytes that every attempt signs and sends. */
function newEvent(now: Date, type: string, data: object): { id: string; body: Buffer } {
  const id = newUuid(now.getTime())
  return { id, body: Buffer.from(JSON.stringify({ id, type, created_at: now.toISOString(), data })) }
}

/** Every event tells of a message. */
function messageOf(data: object): string | null {
  const { message_id: id } = data as { message_id?: unknown }
  return (typeof id === 'string' && withoutPrefix('msg', id)) || null
}
