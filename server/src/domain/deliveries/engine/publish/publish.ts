import type { EventType } from '@parley/contract/events'
import type { Db } from '../../../../db/db.ts'
import { subscriberOf } from '../../../../db/topic.ts'
import { wakeAnywhere, wakeOther } from '../../../../db/wake.ts'
import { newUuid, withoutPrefix } from '../../../../lib/ids.ts'
import type { TracedWebhook } from '../../../../telemetry/tracing.ts'
import { firstAttempts, type Lease } from '../first-attempts.ts'
import { conversationOf, keyOf } from '../order.ts'
import { deleteDelivery, type EventRow, insertEvents, insertTestEvent, type PublishedDelivery } from './publish.sql.ts'

export { insertEventsSql, type PublishedDelivery } from './publish.sql.ts'

/** An event that is not published yet. */
export interface NewEvent {
  workspaceId: string
  type: EventType
  data: object
  /** The sender that it is about, if its data does not have it as `sender_id`. */
  senderId?: string
  /** An endpoint that does not get it, although it subscribes to its type. It must be disabled. */
  notTo?: string
  /** The webhook of the network that caused it, if that is traced. */
  webhook?: TracedWebhook | undefined
}

/** Events to insert, and the lease for their deliveries. */
export interface PreparedEvents {
  createdAt: Date
  rows: readonly EventRow[]
  lease: Lease
  /** The webhooks of the network that caused events, by the ID of the event; null if nothing is traced. */
  causes: ReadonlyMap<string, TracedWebhook | undefined> | null
}

/**
 * Publishes events. Call it within the transaction that makes the change the events are about, so that both are committed or
 * neither. If this process runs a delivery worker, the new deliveries are leased to it and their first attempts start right
 * after the commit.
 */
export async function publish(db: Db, now: Date, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const prepared = prepareEvents(db, now, events)
  const deliveries = await insertEvents(db, now, prepared.rows, prepared.lease)
  for (const [index, { notTo }] of events.entries()) {
    // The deliveries of a disabled endpoint are leased to no one, so no attempt begins before this.
    if (notTo !== undefined) await deleteDelivery(db, (prepared.rows[index] as EventRow).id, notTo)
  }
  offerToWorker(db, prepared, deliveries)
}

/**
 * Publishes an event to one endpoint only and returns the event's ID. It is attempted once, even if the endpoint is
 * disabled.
 */
export async function publishTest(
  db: Db,
  now: Date,
  { workspaceId, webhookId, type, data }: { workspaceId: string; webhookId: string; type: string; data: object },
): Promise<string> {
  const { id, body } = newEvent(now, type, data)
  await insertTestEvent(db, { id, workspaceId, webhookId, type, body, now })
  db.notify(workspaceId, 'deliveries')
  wakeAnywhere(db, 'deliveries')
  return id
}

/** Builds the rows of events and gets a lease for their deliveries. Insert them, then call `offerToWorker`. */
export function prepareEvents(db: Db, now: Date, events: readonly NewEvent[]): PreparedEvents {
  const rows = events.map(({ workspaceId, type, data, senderId }) => {
    const { message_id, sender_id } = data as Record<string, unknown>
    const about = { messageId: uuidIn('msg', message_id), senderId: senderId ?? uuidIn('snd', sender_id) }
    return { ...newEvent(now, type, data), workspaceId, type, ...about, person: personOf(data) }
  })
  const lease = subscriberOf(db, firstAttempts)?.newLease(now) ?? { token: null, until: now, except: [] }
  const causes = db.telemetry.tracing && new Map(rows.map(({ id }, index) => [id, events[index]?.webhook]))
  return { createdAt: now, rows, lease, causes }
}

/** After the commit, gives the inserted deliveries that are leased to this process to its worker, or wakes another one. */
export function offerToWorker(
  db: Db,
  { createdAt, rows, lease: { token, until, except }, causes }: PreparedEvents,
  deliveries: readonly PublishedDelivery[],
): void {
  for (const workspaceId of new Set(rows.map((row) => row.workspaceId))) {
    db.notify(workspaceId, 'messages')
    db.notify(workspaceId, 'deliveries')
  }
  db.afterCommit(() => {
    const { metrics, tracing } = db.telemetry
    for (const { type } of rows) metrics.add('events', type)
    if (tracing) for (const row of rows) tracing.event({ ...row, createdAt, webhook: causes?.get(row.id) })
  })
  const worker = subscriberOf(db, firstAttempts)
  const byId = new Map(rows.map((row) => [row.id, row]))
  const ordered = deliveries.filter(({ conversation }) => conversation !== null)
  // Without a worker here, another one finds them when it claims.
  if (worker && ordered.length > 0) {
    const workspaceOf = ({ eventId }: PublishedDelivery) => byId.get(eventId)?.workspaceId ?? ''
    const conversations = ordered.flatMap((each) => conversationOf({ ...each, workspaceId: workspaceOf(each) }))
    const once = [...new Map(conversations.map((each) => [keyOf(each), each])).values()]
    db.afterCommit(() => worker.startNext(once))
  }
  if (!worker || token === null) {
    wakeAnywhere(db, 'deliveries')
    return
  }
  // Its queues for these endpoints are full. Another process may have less to do.
  if (deliveries.some(({ leased, webhookId }) => !leased && except.includes(webhookId))) wakeOther(db, 'deliveries')
  const items = deliveries.flatMap(({ eventId, webhookId, leased }) => {
    const event = leased ? byId.get(eventId) : undefined
    if (!event) return []
    const { workspaceId, type, body } = event
    const start = {
      attempts: 0,
      trigger: 'first' as const,
      hasTurn: false,
      conversation: null,
      lease: token,
      leaseUntilMs: until.getTime(),
    }
    return [{ eventId, webhookId, workspaceId, eventCreatedAt: createdAt, type, body, ...start }]
  })
  if (items.length > 0) db.afterCommit(() => worker.take(items))
}

/** The body is serialized once: every attempt signs and sends the same bytes. */
function newEvent(now: Date, type: string, data: object): { id: string; body: Buffer } {
  const id = newUuid(now.getTime())
  return { id, body: Buffer.from(JSON.stringify({ id, type, created_at: now.toISOString(), data })) }
}

const uuidIn = (prefix: 'msg' | 'snd', id: unknown): string | null =>
  (typeof id === 'string' && withoutPrefix(prefix, id)) || null

/** The number of the person that an event is about, or the user ID of one without a number. */
function personOf(data: object): string | null {
  const { from, from_user_id, to, to_user_id } = data as Record<string, unknown>
  const person = from ?? from_user_id ?? to ?? to_user_id
  return typeof person === 'string' ? person : null
}
