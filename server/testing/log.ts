import { expect, vi } from 'vitest'
import type { House } from './house.ts'

export interface LoggedRequest {
  id: string
  at: Date
  workspace_id: string | null
  key_id: string | null
  method: string
  route: string
  status: number
  code: string | null
  duration_us: number
  address: string
  user_agent: string | null
}

/** The logged request; a request is in the log within a second of its answer. */
export async function loggedRequest(
  house: Pick<House, 'db'>,
  answer: { headers: { get(name: string): string | null } },
): Promise<LoggedRequest> {
  const id = answer.headers.get('x-request-id')?.slice('req_'.length) ?? null
  return vi.waitFor(
    async () => {
      const row = await house.db.first<LoggedRequest>('select * from request_log where id = $1::uuid', [id])
      expect(row, `the log's row of ${id}`).toBeDefined()
      return row as LoggedRequest
    },
    { timeout: 1500, interval: 25 },
  )
}

/** All that is logged once at least `count` rows with this user agent are. */
export async function loggedOf(house: Pick<House, 'db'>, userAgent: string, count: number): Promise<LoggedRequest[]> {
  return vi.waitFor(
    async () => {
      const rows = await house.db.rows<LoggedRequest>(
        'select * from request_log where user_agent = $1 order by at, id',
        [userAgent],
      )
      expect(rows.length).toBeGreaterThanOrEqual(count)
      return rows
    },
    { timeout: 1500, interval: 25 },
  )
}
