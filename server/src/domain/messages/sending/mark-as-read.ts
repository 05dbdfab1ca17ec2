import type { Db } from '../../../db/db.ts'
import { wakeAnywhere } from '../../../db/wake.ts'
import type { Clock } from '../../../lib/clock.ts'
import { withoutPrefix } from '../../../lib/ids.ts'
import { refuse } from '../../../lib/refuse.ts'
import { insertReceipt } from './read-receipts.sql.ts'

/** Stores that an inbound message is to be marked as read. A worker calls the network soon afterwards. */
export async function markAsRead(
  db: Db,
  clock: Clock,
  workspaceId: string,
  id: string,
  typing: boolean,
): Promise<void> {
  const messageId = withoutPrefix('msg', id) ?? refuse('not_found')
  if ((await insertReceipt(db, { workspaceId, messageId, typing, now: clock.now() })) === 0) refuse('not_found')
  wakeAnywhere(db, 'mark as read')
}
