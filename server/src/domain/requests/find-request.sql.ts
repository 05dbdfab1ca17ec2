import type { Db } from '../../db/db.ts'

export interface LoggedRequest {
  id: string
  at: Date
  method: string
  route: string
  status: number
  duration_us: number
  address: string | null
}

/** Finds a request by ID within a time range, because the log is partitioned by time. */
export const requestNear = (db: Db, workspaceId: string, id: string, from: Date, to: Date) =>
  db.first<LoggedRequest>(
    `select id, at, method, route, status, duration_us, address from request_log
     where workspace_id = $1 and id = $2 and at between $3 and $4 limit 1`,
    [workspaceId, id, from, to],
  )
