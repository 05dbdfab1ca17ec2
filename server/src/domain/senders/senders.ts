import type { Sender } from '@parley/contract/sender'
import type { Db } from '../../db/db.ts'
import { withoutPrefix, withPrefix } from '../../lib/ids.ts'
import type { KeySet } from '../../lib/key-set.ts'
import { refuse } from '../../lib/refuse.ts'
import { type SenderRow, senderById, senderList, sendersToUse, type UsableSender } from './senders.sql.ts'

export const listSenders = (db: Db, workspaceId: string, page: KeySet) =>
  senderList.page<SenderRow>(db, { workspaceId }, page)

export async function getSender(db: Db, workspaceId: string, id: string): Promise<Sender> {
  const uuid = withoutPrefix('snd', id)
  const row = uuid && (await senderById(db, workspaceId, uuid))
  return row ? toSender(row) : refuse('not_found')
}

export {
  countActiveSenders,
  type Destination,
  destinationsOf,
  failingSenders,
  type LocatedSender,
  networkIdsOf,
  senderById as findSender,
  senderIdsOf,
  sendersById as findSenders,
  sendersNamed,
  sendersOfApp,
} from './senders.sql.ts'
export type { UsableSender }

/** A sender that a request names by its uuid; without one, the workspace's only sender. */
export interface WantedSender {
  workspaceId: string
  senderId: string | null
}

/** The senders of several requests, in their order; none for null. Two results mean that the request must name one. */
export async function findSendersToUse(db: Db, wanted: readonly (WantedSender | null)[]): Promise<UsableSender[][]> {
  const found = wanted.map((): UsableSender[] => [])
  const rows = wanted.flatMap((each, index) => (each ? { index, ...each } : []))
  for (const { index, ...sender } of rows.length === 0 ? [] : await sendersToUse(db, { wanted: rows }))
    found[index]?.push(sender)
  return found
}

export const toSender = (row: SenderRow): Sender => ({
  id: withPrefix('snd', row.id),
  object: 'sender',
  phone_number: row.phone_number,
  display_name: row.display_name,
  status: row.status,
  quality_rating: row.quality_rating,
  created_at: row.created_at.toISOString(),
})
