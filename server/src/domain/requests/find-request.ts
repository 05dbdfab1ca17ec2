import type { Db } from '../../db/db.ts'
import { type LoggedRequest, requestNear } from './find-request.sql.ts'

export type { LoggedRequest }

/** Upper bound for the duration of a request. */
const maxDurationMs = 5 * 60_000

/** The request that caused something at `didAt`; undefined if it is no longer in the log. */
export const findRequest = (db: Db, workspaceId: string, id: string, didAt: Date): Promise<LoggedRequest | undefined> =>
  requestNear(db, workspaceId, id, new Date(didAt.getTime() - maxDurationMs), new Date(didAt.getTime() + 1000))
