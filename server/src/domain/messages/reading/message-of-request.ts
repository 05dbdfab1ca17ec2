import type { Db } from '../../../db/db.ts'
import { withPrefix } from '../../../lib/ids.ts'
import { messageOfRequest, type RequestReference } from './message-of-request.sql.ts'

/** The ID of the message that a request created. Null if it created none, for example because it was replayed. */
export async function messageMadeBy(db: Db, workspaceId: string, request: RequestReference): Promise<string | null> {
  const row = await messageOfRequest(db, workspaceId, request)
  return row ? withPrefix('msg', row.id) : null
}
