/**
 * Updates the senders of a workspace from a listing or a notice of the network. Each change of a status or a quality
 * rating publishes an event in the same transaction.
 */
import type { SenderStatusData } from '@parley/contract/service-events'
import type { Db } from '../../db/db.ts'
import { newUuid, withPrefix } from '../../lib/ids.ts'
import type { ListedNumber } from '../../whatsapp/graph/listings.ts'
import { publish } from '../deliveries/engine/publish/publish.ts'
import {
  type Account,
  changeNumber,
  changeStatuses,
  lockSenderStates,
  markSendersDeleted,
  type NumberChange,
  type SenderOwner,
  type SenderState,
  sendersElsewhere,
  upsertSenders,
} from './senders.sql.ts'

/**
 * Updates the senders of a connection to WhatsApp's list. A sender that is not listed is stored as DELETED, because
 * messages refer to it. Returns the numbers that were not added because another workspace has them.
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
  await publishingChanges(db, owner, now, async (tx) => {
    if (senders.length > 0) await upsertSenders(tx, { ...owner, now, listed: senders })
    await markSendersDeleted(tx, owner, ids, now)
  })
  const others = await sendersElsewhere(db, owner, ids)
  return { ownedElsewhere: others.map((row) => row.phone_number) }
}

/**
 * Changes the status of senders after a notice about their account, or about one of its numbers. `CONNECTED` changes only
 * senders that an earlier notice blocked.
 */
export const changeSendersOf = (
  db: Db,
  owner: Account,
  number: string | null,
  change: { status: string; reason: string | null },
  now: Date,
): Promise<void> =>
  publishingChanges(db, owner, now, async (tx) => {
    await changeStatuses(tx, owner, number, change, now)
  })

/** After a notice about a number. */
export const changeSender = (db: Db, owner: Account, number: string, change: NumberChange, now: Date): Promise<void> =>
  publishingChanges(db, owner, now, async (tx) => {
    await changeNumber(tx, owner, number, change, now)
  })

const publishingChanges = (
  db: Db,
  { workspaceId }: Account,
  now: Date,
  change: (tx: Db) => Promise<void>,
): Promise<void> =>
  db.transaction(async (tx) => {
    const before = new Map((await lockSenderStates(tx, workspaceId)).map((each) => [each.id, each]))
    await change(tx)
    const after = await lockSenderStates(tx, workspaceId)
    const events = after.flatMap((sender) => {
      const earlier = before.get(sender.id)
      const isChanged = earlier && (earlier.status !== sender.status || earlier.quality !== sender.quality)
      return isChanged ? [{ workspaceId, type: 'sender.status_changed' as const, data: toData(sender, earlier) }] : []
    })
    await publish(tx, now, events)
  })

const toData = ({ id, status, quality, reason }: SenderState, earlier: SenderState): SenderStatusData => ({
  sender_id: withPrefix('snd', id),
  status,
  previous_status: earlier.status,
  quality_rating: quality,
  reason,
})
