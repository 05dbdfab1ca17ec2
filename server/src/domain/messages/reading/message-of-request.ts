import type { Db } from '../../../db/db.ts'
import { messageOfRequest, type RequestReference } from './messages.sql.ts'

/** The message that a request created. Null if it created none, for example because it was replayed. */
export async function messageMadeBy(
  db: Db,
  workspaceId: string,
  request: RequestReference,
): Promise<{ id: string; status: string; createdAt: Date } | null> {
  const row = await messageOfRequest(db, workspaceId, request)
  return row ? { id: row.id, status: row.status, createdAt: row.created_at } : null
}
