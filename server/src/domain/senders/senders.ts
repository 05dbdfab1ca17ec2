import type { Sender } from '@parley/contract/sender'
import type { Db } from '../../db/db.ts'
import { newUuid, withoutPrefix, withPrefix } from '../../lib/ids.ts'
import type { KeySet } from '../../lib/key-set.ts'
import { refuse } from '../../lib/refuse.ts'
import type { ListedNumber } from '../../whatsapp/listings.ts'
import {
  countSenders,
  markSendersGone,
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
  activeCounts,
  type Destination,
  destinationsOf,
  failingSenders,
  networkIdsOf,
  senderIdsOf,
} from './senders.sql.ts'
export type { UsableSender }

/** How a sender is shown beside what it sent or received. */
export const findSender = (db: Db, workspaceId: string, uuid: string): Promise<SenderRow | undefined> =>
  senderById(db, workspaceId, uuid)

/** The sender that a message names, or the workspace's only one. Two: there are several, and one has to be named. */
export const findSenderToUse = (db: Db, workspaceId: string, id: string | undefined): Promise<UsableSender[]> =>
  sendersToUse(db, workspaceId, id === undefined ? null : (withoutPrefix('snd', id) ?? null))

/**
 * Makes the senders of a connection those that the network lists. One it lists no more is kept, as DELETED, for the
 * messages that name it. Returns the numbers that could not be had because they are another workspace's.
 */
export async function saveSenders(
  db: Db,
  owner: SenderOwner,
  listed: readonly ListedNumber[],
  now: Date,
): Promise<{ notOurs: string[] }> {
  const numbers = [...new Map(listed.map((number) => [number.phoneNumberId, number])).values()]
  const ids = numbers.map((number) => number.phoneNumberId)
  const senders = numbers.map((number) => ({ id: newUuid(now.getTime()), ...number }))
  if (senders.length > 0) await upsertSenders(db, owner, senders, now)
  await markSendersGone(db, owner, ids, now)
  const elsewhere = await sendersElsewhere(db, owner, ids)
  return { notOurs: elsewhere.map((row) => row.phone_number) }
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
