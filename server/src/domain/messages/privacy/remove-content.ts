/** Removes the contents of old messages, in batches. Their statuses, times, numbers and credits stay. */
import type { Db } from '../../../db/db.ts'
import { expireFiles } from '../../files/fetching.ts'
import { removeAnswers } from '../../flows/privacy.ts'
import { removeOrderNotes } from '../../orders/orders.ts'
import { holdMoving } from '../receiving/older-messages.ts'
import { type Looked, type RemovalRange, removeReceivedContent } from './remove-content.sql.ts'

export { removeSentContent as removeSent } from './remove-content.sql.ts'
export type { Looked, RemovalRange }

/** Removes the contents of inbound messages, with their forms, files and the notes of their orders. Run within a transaction. */
export async function removeReceived(tx: Db, range: RemovalRange, now: Date): Promise<Looked> {
  await holdMoving(tx)
  const { messageIds, ...looked } = await removeReceivedContent(tx, range, now)
  if (messageIds.length > 0) {
    await expireFiles(tx, 'message_id', messageIds)
    await removeAnswers(tx, messageIds, now)
    await removeOrderNotes(tx, messageIds)
  }
  return looked
}
