import type { Db } from '../../../db/db.ts'
import { requireEndpoint } from '../endpoint.ts'
import type { AttemptRecord } from '../engine/record-attempts.sql.ts'
import { attemptsPage, type Place } from './attempts.sql.ts'

export type { AttemptRecord }

/** An endpoint's attempts, the newest first; `before` is the last one of the page before. */
export async function listAttempts(
  db: Db,
  webhookId: string,
  { before = null, limit = 50 }: { before?: Place | null; limit?: number } = {},
): Promise<AttemptRecord[]> {
  const { uuid, workspaceId } = await requireEndpoint(db, webhookId)
  return attemptsPage(db, { workspaceId, webhookId: uuid, before, limit })
}
