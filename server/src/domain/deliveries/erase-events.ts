/** Removes events that hold the data of a person, and ends their deliveries. */
import type { Db } from '../../db/db.ts'
import { type KnownPerson, patternsNaming, splitByPerson } from '../../whatsapp/incoming/split-by-person.ts'
import {
  deleteDeliveriesOf,
  deleteEventsNaming,
  deleteEventsOf,
  deleteUpdateEvents,
  type ErasedEvent,
  eraseResponsesOf,
  eventsAbout,
  hasDeliveriesOf,
  preferenceEventsNaming,
  updateEventsWith,
} from './erase-events.sql.ts'

/** The events that name a person and are not about a message, as they are sent. */
export async function* eventsNaming(db: Db, person: KnownPerson): AsyncGenerator<string> {
  yield* await preferenceEventsNaming(db, person)
  for await (const { body } of updateEventsOf(db, person)) yield body
}

/** A message, with the time before which no event is about it. */
interface AboutMessage {
  id: string
  createdAt: Date
}

export interface ErasedEvents {
  events: number
  /** Open deliveries that were ended. */
  deliveries: number
}

/**
 * A delivery of one of these events is being recorded or claimed at this moment. The transaction has to be repeated: the response of
 * its attempt may be stored after this one has removed the others.
 */
export class EventsInUse extends Error {
  override readonly message = 'a delivery of an event that is to be erased is in use'
}

/** Erases the events about messages. An attempt that has begun is not stopped. Run within `withIndexLookups`. */
export async function eraseEventsOf(
  tx: Db,
  workspaceId: string,
  messages: readonly AboutMessage[],
): Promise<ErasedEvents> {
  const since = oldestOf(messages)
  if (since === null) return { events: 0, deliveries: 0 }
  const ids = messages.map(({ id }) => id)
  return endDeliveries(tx, workspaceId, await deleteEventsOf(tx, workspaceId, ids, since))
}

/** Erases the events that name a person and are not about a message. Run within a transaction. */
export async function eraseEventsNaming(tx: Db, person: KnownPerson): Promise<ErasedEvents> {
  const updates: string[] = []
  for await (const { id } of updateEventsOf(tx, person)) updates.push(id)
  const erased = [
    ...(await deleteEventsNaming(tx, person)),
    ...(updates.length === 0 ? [] : await deleteUpdateEvents(tx, person.workspaceId, updates)),
  ]
  return endDeliveries(tx, person.workspaceId, erased)
}

/** Events in memory at a time. Most have a few kilobytes, and none more than a webhook. */
const pageSize = 20

/** The events with a network update that is about the person, and maybe about others too. */
async function* updateEventsOf(db: Db, person: KnownPerson): AsyncGenerator<{ id: string; body: string }> {
  const patterns = patternsNaming(person)
  let last: ErasedEvent | undefined = { createdAt: new Date(0), id: '00000000-0000-0000-0000-000000000000' }
  while (last) {
    const page = await updateEventsWith(db, person.workspaceId, patterns, last, pageSize)
    for (const event of page) if (splitByPerson(event.body, person).about !== null) yield event
    last = page.at(-1)
  }
}

async function endDeliveries(tx: Db, workspaceId: string, events: readonly ErasedEvent[]): Promise<ErasedEvents> {
  const since = oldestOf(events)
  if (since === null) return { events: 0, deliveries: 0 }
  const ids = events.map(({ id }) => id)
  const deliveries = await deleteDeliveriesOf(tx, workspaceId, ids)
  if (await hasDeliveriesOf(tx, workspaceId, ids)) throw new EventsInUse()
  await eraseResponsesOf(tx, workspaceId, ids, since)
  tx.notify(workspaceId, 'deliveries')
  return { events: events.length, deliveries }
}

/** The clocks of two processes differ by seconds at most, so an event may seem a little older than its message. */
const clockMarginMs = 60_000

const oldestOf = (rows: readonly { createdAt: Date }[]): Date | null =>
  rows.length === 0 ? null : new Date(Math.min(...rows.map(({ createdAt }) => createdAt.getTime())) - clockMarginMs)

/** The events about messages as they were made, by message. Run within `withIndexLookups`. */
export async function eventsOfMessages(
  db: Db,
  workspaceId: string,
  messages: readonly AboutMessage[],
): Promise<Map<string, string[]>> {
  const since = oldestOf(messages)
  if (since === null) return new Map()
  const ids = messages.map(({ id }) => id)
  const byMessage = Map.groupBy(await eventsAbout(db, workspaceId, ids, since), ({ messageId }) => messageId)
  return new Map([...byMessage].map(([id, events]) => [id, events.map(({ body }) => body)]))
}
