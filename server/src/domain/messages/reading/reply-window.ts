import type { Db } from '../../../db/db.ts'
import { latestPrivateMessage, type Person } from './reply-window.sql.ts'

const windowMs = 24 * 3_600_000

/**
 * When the time ends in which WhatsApp accepts any message to a person: 24 hours after their latest private message to the
 * sender. Null if there is none. For people only: nothing is refused because of it, WhatsApp decides.
 */
export async function findReplyWindow(
  db: Db,
  workspaceId: string,
  senderId: string,
  person: Person,
): Promise<string | null> {
  const latest = await latestPrivateMessage(db, workspaceId, senderId, person)
  return latest && new Date(latest.getTime() + windowMs).toISOString()
}
