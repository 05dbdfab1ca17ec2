import type { Db } from '../../db/db.ts'

export interface RejectedWebhooks {
  count: number
  lastAt: Date | null
}

/** The rejected webhooks of a route in the request log. */
export const rejectedOf = (db: Db, route: string, since: Date): Promise<RejectedWebhooks | undefined> =>
  db.first(
    `select count(*)::int as count, max(at) as "lastAt" from request_log
     where workspace_id is null and code = 'invalid_key' and at >= $2 and route = $1`,
    [route, since],
  )
