import type { Db } from '../../db/db.ts'
import { type LoggedRequest, requestNear } from './find-request.sql.ts'

export type { LoggedRequest }

/** No request takes longer to do what it was made for. */
const longestMs = 5 * 60_000

/** The logged request that did something at a time; undefined once the log has forgotten it. */
export const findRequest = (db: Db, workspaceId: string, id: string, didAt: Date): Promise<LoggedRequest | undefined> =>
  requestNear(db, workspaceId, id, new Date(didAt.getTime() - longestMs), new Date(didAt.getTime() + 1000))
