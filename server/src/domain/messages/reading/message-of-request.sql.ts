import type { Db } from '../../../db/db.ts'

export interface RequestReference {
  requestId: string
  keyId: string
  at: Date
  until: Date
}

/** There is no index on request_id. The API key and the time range leave only a few rows to check. */
export const messageOfRequest = (
  db: Db,
  workspaceId: string,
  { requestId, keyId, at, until }: RequestReference,
): Promise<{ id: string; status: string; created_at: Date } | undefined> =>
  db.first(
    `select id, status, created_at from messages
     where workspace_id = $1 and key_id = $2 and created_at between $3 and $4 and request_id = $5`,
    [workspaceId, keyId, at, until, requestId],
  )
