import type { TestServer } from './test-server.ts'
import { until } from './until.ts'

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

/** Waits until the request of this response is in the request log. */
export function loggedRequest(
  server: Pick<TestServer, 'db'>,
  response: { headers: { get(name: string): string | null } },
): Promise<LoggedRequest> {
  const id = response.headers.get('x-request-id')?.slice('req_'.length) ?? null
  return until(`request ${id} is in the log`, () =>
    server.db.first<LoggedRequest>('select * from request_log where id = $1::uuid', [id]),
  )
}

/** Waits until at least `count` requests with this user agent are logged, and returns them. */
export function loggedOf(server: Pick<TestServer, 'db'>, userAgent: string, count: number): Promise<LoggedRequest[]> {
  return until(`${count} requests of ${userAgent} are in the log`, async () => {
    const rows = await server.db.rows<LoggedRequest>(
      'select * from request_log where user_agent = $1 order by at, id',
      [userAgent],
    )
    return rows.length >= count && rows
  })
}
