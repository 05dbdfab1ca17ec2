import type { Db } from '../../db/db.ts'

export interface RejectedWebhooks {
  count: number
  lastAt: Date | null
}

/** The rejected webhooks of a route in the request log, counted up to 1000. */
export const rejectedOf = (db: Db, code: string, route: string, since: Date): Promise<RejectedWebhooks | undefined> =>
  db.first(
    `select count(*)::int as count, max(at) as "lastAt" from (
       select at from request_log where workspace_id is null and code = $1 and at >= $3 and route = $2
       order by at desc limit 1000) as newest`,
    [code, route, since],
  )
