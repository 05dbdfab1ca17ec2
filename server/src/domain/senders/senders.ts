import type { Sender } from '@parley/contract/sender'
import type { Db } from '../../db/db.ts'
import { newUuid, withoutPrefix, withPrefix } from '../../lib/ids.ts'
import type { KeySet } from '../../lib/key-set.ts'
import { refuse } from '../../lib/refuse.ts'
import type { ListedNumber } from '../../whatsapp/listings.ts'
import {
  countSenders,
  markSendersDeleted,
  type SenderOwner,
  type SenderRow,
  senderById,
  sendersElsewhere,
  sendersOf,
  sendersToUse,
  type UsableSender,
  upsertSenders,
} from './senders.sql.ts'

export async function listSenders(
  db: Db,
  workspaceId: string,
  page: KeySet,
): Promise<{ rows: SenderRow[]; total: number }> {
  const [rows, total] = await Promise.all([sendersOf(db, workspaceId, page), countSenders(db, workspaceId)])
  return { rows, total }
}

export async function getSender(db: Db, workspaceId: string, id: string): Promise<Sender> {
  const uuid = withoutPrefix('snd', id)
  const row = uuid && (await senderById(db, workspaceId, uuid))
  return row ? toSender(row) : refuse('not_found')
}

export {
  blockSenders,
  changeNumber,
  countActiveSenders,
  type Destination,
  destinationsOf,
  failingSenders,
  networkIdsOf,
  senderIdsOf,
  unblockSenders,
} from './senders.sql.ts'
export type { UsableSender }

/** The sender of a message, by its uuid; also a deleted one. */
export const findSender = (db: Db, workspaceId: string, uuid: string): Promise<SenderRow | undefined> =>
  senderById(db, workspaceId, uuid)

/** A sender that a request names by its uuid; without one, the workspace's only sender. */
export interface WantedSender {
  workspaceId: string
  senderId: string | null
}

/** The senders of several requests, in their order. Two results mean that the request must name one. */
export async function findSendersToUse(db: Db, wanted: readonly WantedSender[]): Promise<UsableSender[][]> {
  const found = wanted.map((): UsableSender[] => [])
  const rows = wanted.map(({ workspaceId, senderId }, index) => ({ index, workspaceId, senderId }))
  for (const { index, ...sender } of rows.length === 0 ? [] : await sendersToUse(db, rows)) found[index]?.push(sender)
  return found
}

/**
 * Updates the senders of a connection to those that the network lists. A sender that is no longer listed is kept as
 * DELETED, because messages refer to it. Returns the numbers that were not added because another workspace has them.
 */
export async function saveSenders(
  db: Db,
  owner: SenderOwner,
  listed: readonly ListedNumber[],
  now: Date,
): Promise<{ ownedElsewhere: string[] }> {
  const numbers = [...new Map(listed.map((number) => [number.phoneNumberId, number])).values()]
  const ids = numbers.map((number) => number.phoneNumberId)
  const senders = numbers.map((number) => ({ id: newUuid(now.getTime()), ...number }))
  if (senders.length > 0) await upsertSenders(db, owner, senders, now)
  await markSendersDeleted(db, owner, ids, now)
  const others = await sendersElsewhere(db, owner, ids)
  return { ownedElsewhere: others.map((row) => row.phone_number) }
}

export const markOf = (row: SenderRow) => ({ at: row.created_at, id: row.id })

export const toSender = (row: SenderRow): Sender => ({
  id: withPrefix('snd', row.id),
  object: 'sender',
  phone_number: row.phone_number,
  display_name: row.display_name,
  status: row.status,
  quality_rating: row.quality_rating,
  created_at: row.created_at.toISOString(),
})
