/**
 * Erases what a workspace has about a person, in steps:
 *
 *   asked → the person's numbers and user IDs are looked up
 *         → their messages, a few hundred in each step, with events, forms, files and orders
 *         → what is not about a message → ended, and nothing that identifies them is left
 *
 * A step is a transaction. Any process takes the next one, so an erasure continues if its process dies.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../db/db.ts'
import { withIndexLookups } from '../../db/planner-settings.ts'
import type { Clock } from '../../lib/clock.ts'
import { newUuid } from '../../lib/ids.ts'
import { refuse } from '../../lib/refuse.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { eraseParked } from '../connections/parked-of-person.ts'
import { EventsInUse, eraseEventsNaming } from '../deliveries/erase-events.ts'
import { deleteExpiredFiles } from '../files/fetching.ts'
import {
  countQueued,
  deleteHandoversOf,
  deleteReadsOf,
  deleteSavedContactsOf,
  eraseReceived,
  eraseSent,
  eraseTraces,
  findPerson,
  type KnownPerson,
  type NamedPerson,
  type Removed,
} from '../messages/privacy/person.ts'
import { deletePreferencesOf } from '../senders/preferences.ts'
import { eraseUpdates } from '../updates/updates-of-person.ts'
import {
  countOpenErasures,
  type ErasureRow,
  endErasure,
  insertErasure,
  lockErasure,
  postponeErasure,
  saveErasureStep,
  takeErasure,
} from './erasures.sql.ts'
import { knownOf } from './erasures.ts'

/** Messages in a step, with their events: a transaction of about a tenth of a second. */
const stepMax = 200
/** Steps of one run of maintenance: 100,000 messages. */
const stepsMax = 500
/** When to look again for a queued message, and when to repeat a step that failed. */
const againMs = 5_000
/** How often, and how far apart, a step is tried while a delivery of an event is being recorded: that takes milliseconds. */
const triesMax = 20
const inUseMs = 50
/** An erasure by user ID reads all messages of its workspace, so a workspace may ask for this many at a time. */
const openMax = 100

export interface NewErasure {
  workspaceId: string
  person: NamedPerson
  askedBy: string
}

/**
 * Plans the erasure of a person and returns its ID. Refuses while a message to them is queued: it is paid for and about
 * to be sent, and would need the number.
 */
export async function beginErasure(
  db: Db,
  clock: Clock,
  { workspaceId, person, askedBy }: NewErasure,
): Promise<string> {
  const askedAt = clock.now()
  const named = 'number' in person ? { number: person.number, userId: null } : { number: null, userId: person.userId }
  const queued = await countQueued(db, knownOf({ workspaceId, ...named, numbers: null, userIds: null }), askedAt)
  if (queued > 0) {
    const messages = queued === 1 ? 'A message to this contact is' : `${queued} messages to this contact are`
    refuse('conflict', {
      message: `${messages} not sent yet. Wait until each is sent or has failed, at most 25 hours, then erase again.`,
    })
  }
  if ((await countOpenErasures(db, workspaceId)) >= openMax) {
    refuse('conflict', { message: `${openMax} contacts are being erased. Wait until some are done, then try again.` })
  }
  const id = newUuid(askedAt.getTime())
  await insertErasure(db, { id, workspaceId, askedBy, askedAt, stepAt: askedAt, ...named })
  return id
}

/** Takes the steps that are due. */
export async function eraseDue(db: Db, clock: Clock, log: Logger): Promise<void> {
  for (let step = 0; step < stepsMax; step++) {
    if ((await takeErasureStep(db, clock, log)) === null) return
  }
}

/**
 * What a step did: it erased something, found a message that is queued or an event that is being delivered, or was the last one.
 */
export type ErasureStep = 'erased' | 'waits' | 'ended'

/** Takes the next step of the given erasure, or of the erasure that waits longest. Null if there is none. */
export async function takeErasureStep(
  db: Db,
  clock: Clock,
  log: Logger,
  id: string | null = null,
): Promise<ErasureStep | null> {
  let taken: ErasureRow | undefined
  for (let tries = 1; ; tries++) {
    try {
      const step = await withIndexLookups(db, async (tx) => {
        taken = id === null ? await takeErasure(tx, clock.now()) : await lockErasure(tx, id)
        return taken ? advance(tx, clock, log, taken) : null
      })
      if (step === 'ended') await deleteExpiredFiles(db)
      return step
    } catch (error) {
      const isInUse = error instanceof EventsInUse
      if (isInUse && tries < triesMax) {
        await sleep(inUseMs)
        continue
      }
      if (taken) await postponeErasure(db, taken.id, later(clock, againMs)).catch(() => {})
      if (isInUse) return 'waits'
      throw error
    }
  }
}

async function advance(tx: Db, clock: Clock, log: Logger, erasure: ErasureRow): Promise<ErasureStep> {
  const { id, workspaceId, askedAt } = erasure
  const person = await personOf(tx, erasure)
  const limits = { until: askedAt, take: stepMax, now: clock.now() }
  const save = async (removed: Removed, stepAt: Date) => {
    const { numbers, userIds } = person
    await saveErasureStep(tx, { id, numbers: [...numbers], userIds: [...userIds], removed }, stepAt)
  }
  // First, because a message of an update that is released or reread later counts as a new one.
  const stored = erasure.numbers === null ? await eraseStoredUpdates(tx, person) : {}
  const erased = await nextMessages(tx, person, limits)
  const removed = sum(sum(erasure.removed, erased ?? {}), stored)
  for (const topic of ['messages', 'forms', 'orders'] as const) tx.notify(workspaceId, topic)
  if (erased) {
    await save(removed, limits.now)
    return 'erased'
  }
  if ((await countQueued(tx, person, askedAt)) > 0) {
    await save(removed, later(clock, againMs))
    return 'waits'
  }
  const all = sum(removed, await eraseRest(tx, person, askedAt))
  await endErasure(tx, id, all, limits.now)
  const fields = { event: 'contact.erased', workspace_id: workspaceId, erasure_id: id, ...all } as const
  tx.afterCommit(() => log.info(fields, 'erased a contact'))
  return 'ended'
}

async function personOf(tx: Db, erasure: ErasureRow): Promise<KnownPerson> {
  const { workspaceId, number, userId, numbers } = erasure
  if (numbers) return knownOf(erasure)
  return findPerson(tx, workspaceId, number === null ? { userId: userId ?? '' } : { number })
}

/** Null if there are no more messages. */
async function nextMessages(
  tx: Db,
  person: KnownPerson,
  limits: Parameters<typeof eraseSent>[2],
): Promise<Removed | null> {
  const sent = await eraseSent(tx, person, limits)
  if (sent.messages !== 0) return sent
  const received = await eraseReceived(tx, person, limits)
  return received.inbound_messages === 0 ? null : received
}

async function eraseRest(tx: Db, person: KnownPerson, until: Date): Promise<Removed> {
  await eraseTraces(tx, person, until)
  return {
    preferences: await deletePreferencesOf(tx, person),
    handovers: await deleteHandoversOf(tx, person),
    contact_reads: await deleteReadsOf(tx, person),
    saved_contacts: await deleteSavedContactsOf(tx, person),
    ...(await eraseStoredUpdates(tx, person)),
    ...(await eraseEventsNaming(tx, person)),
  }
}

async function eraseStoredUpdates(tx: Db, person: KnownPerson): Promise<Removed> {
  return {
    parked_updates: await eraseParked(tx, person.workspaceId, person),
    network_updates: await eraseUpdates(tx, person.workspaceId, person),
  }
}

function sum(before: Removed, more: Removed): Removed {
  const all = { ...before }
  for (const [kind, count] of Object.entries(more)) all[kind] = (all[kind] ?? 0) + count
  return all
}

const later = (clock: Clock, ms: number): Date => new Date(clock.now().getTime() + ms)
