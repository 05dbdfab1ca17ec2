/** What the messages of a workspace know about a person, to export or to erase it. */
import type { Db } from '../../../db/db.ts'
import { withIndexLookups } from '../../../db/planner-settings.ts'
import { bytesInIds } from '../../../whatsapp/incoming/person-in-id.ts'
import type { KnownPerson } from '../../../whatsapp/incoming/split-by-person.ts'
import { eraseEventsOf } from '../../deliveries/erase-events.ts'
import { expireFiles } from '../../files/fetching.ts'
import { eraseAnswers, eraseTokens } from '../../flows/privacy.ts'
import { eraseOrders } from '../../orders/orders.ts'
import { eraseContentsMadeBy } from '../../requests/inspector/contents.ts'
import { holdMoving } from '../receiving/older-messages.ts'
import { deleteReceipts } from '../sending/read-receipts.sql.ts'
import {
  deleteEarlyOf,
  deleteUserIdChanges,
  eraseReceivedMessages,
  eraseSentMessages,
  eraseStoredResponses,
  numbersOfUserIds,
  earlyStatusesOf as readEarly,
  replacedUserIds,
  userIdsOfNumber,
} from './person.sql.ts'

export { deleteReadsOf, readsOf } from '../reading/contact-list.sql.ts'
export { deleteHandoversOf, handoversOf } from '../receiving/handovers.sql.ts'
export { deleteSavedContactsOf, savedContactsOf } from '../receiving/saved-contacts.sql.ts'
export {
  countQueued,
  idempotencyKeysOf,
  type ReceivedOfPerson,
  receivedOfPerson,
  type SentOfPerson,
  sentOfPerson,
  userIdChangesOf,
} from './person.sql.ts'
export type { KnownPerson }

/** A person as they are named: by number or by user ID. */
export type NamedPerson = { number: string } | { userId: string }

/** Finds all numbers and user IDs of a person. By user ID, it reads all messages of the workspace. */
export async function findPerson(db: Db, workspaceId: string, named: NamedPerson): Promise<KnownPerson> {
  if ('number' in named) {
    const seen = await withIndexLookups(db, (tx) => userIdsOfNumber(tx, workspaceId, named.number))
    const userIds = await replacedUserIds(db, workspaceId, seen, false)
    return { workspaceId, isNumber: true, numbers: [named.number], userIds }
  }
  const userIds = await replacedUserIds(db, workspaceId, [named.userId], true)
  return { workspaceId, isNumber: false, numbers: await numbersOfUserIds(db, workspaceId, userIds), userIds }
}

/** How many rows of each kind were changed or removed. */
export type Removed = Record<string, number>

export interface EraseLimits {
  /** Only what is older than this. */
  until: Date
  take: number
  now: Date
}

/** Erases the next sent messages of a person, with their events. Run within `withIndexLookups`. */
export async function eraseSent(tx: Db, person: KnownPerson, limits: EraseLimits): Promise<Removed> {
  // First, so that a status that is being recorded is committed, and its event is erased too.
  const messages = await eraseSentMessages(tx, person, limits)
  const ids = messages.map(({ id }) => id)
  await eraseTokens(tx, person.workspaceId, ids)
  const requestBodies = await eraseContentsMadeBy(tx, person.workspaceId, messages)
  const events = await eraseEventsOf(tx, person.workspaceId, messages)
  return { messages: messages.length, request_bodies: requestBodies, ...events }
}

/** Erases the next messages from a person, with their events, forms, files and orders. Run within `withIndexLookups`. */
export async function eraseReceived(tx: Db, person: KnownPerson, limits: EraseLimits): Promise<Removed> {
  await holdMoving(tx)
  const messages = await eraseReceivedMessages(tx, person, limits)
  const ids = messages.map(({ id }) => id)
  const { responses, files: uploaded } = await eraseAnswers(tx, person.workspaceId, ids, limits.now)
  await deleteReceipts(tx, ids)
  const files = uploaded + (await expireFiles(tx, 'message_id', ids))
  const orders = await eraseOrders(tx, person.workspaceId, ids)
  const events = await eraseEventsOf(tx, person.workspaceId, messages)
  return { inbound_messages: messages.length, flow_responses: responses, files, orders, ...events }
}

/** Erases what is not about single messages. Run within a transaction. */
export async function eraseTraces(tx: Db, person: KnownPerson, until: Date): Promise<void> {
  await eraseStoredResponses(tx, person, until)
  await deleteUserIdChanges(tx, person)
  await deleteEarlyOf(tx, person, bytesInIdsOf(person))
}

/** The statuses of a person that wait for their message. */
export const earlyStatusesOf = (db: Db, person: KnownPerson) => readEarly(db, person, bytesInIdsOf(person))

const bytesInIdsOf = ({ numbers, userIds }: KnownPerson): Buffer[] => bytesInIds([...numbers, ...userIds])
