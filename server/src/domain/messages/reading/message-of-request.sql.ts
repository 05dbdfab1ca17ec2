import type { Db } from '../../../db/db.ts'

export interface Asked {
  requestId: string
  keyId: string
  at: Date
  until: Date
}

/** No index knows request ids; the key and the moment leave next to nothing to look through. */
export const messageOfRequest = (
  db: Db,
  workspaceId: string,
  { requestId, keyId, at, until }: Asked,
): Promise<{ id: string } | undefined> =>
  db.first(
    `select id from messages
     where workspace_id = $1 and key_id = $2 and created_at between $3 and $4 and request_id = $5`,
    [workspaceId, keyId, at, until, requestId],
  )
