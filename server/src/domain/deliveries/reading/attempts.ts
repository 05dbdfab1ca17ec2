import type { Db } from '../../../db/db.ts'
import { requireEndpoint } from '../endpoint.ts'
import type { AttemptRecord } from '../engine/attempt/record-attempts.sql.ts'
import { attemptsPage, type Cursor } from './attempts.sql.ts'

export type { AttemptRecord }

/** The attempts of an endpoint, newest first. `before` is the last attempt of the previous page. */
export async function listAttempts(
  db: Db,
  webhookId: string,
  { before = null, limit = 50 }: { before?: Cursor | null; limit?: number } = {},
): Promise<AttemptRecord[]> {
  const { uuid, workspaceId } = await requireEndpoint(db, webhookId)
  return attemptsPage(db, { workspaceId, webhookId: uuid, before, limit })
}
