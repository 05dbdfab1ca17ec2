import type { Db } from '../../../db/db.ts'
import { withPrefix } from '../../../lib/ids.ts'
import { type Asked, messageOfRequest } from './message-of-request.sql.ts'

/** The id of the message that a request made; null if it made none, as one that repeats an earlier answer does not. */
export async function messageMadeBy(db: Db, workspaceId: string, asked: Asked): Promise<string | null> {
  const row = await messageOfRequest(db, workspaceId, asked)
  return row ? withPrefix('msg', row.id) : null
}
