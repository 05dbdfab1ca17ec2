import type { IncomingMessage } from 'node:http'
import type { InspectedRequest } from '../lib/access-check.ts'
import type { RouteMatch } from './router.ts'

/** What the request inspector stores of a request. */
export const inspectedRequest = (
  request: IncomingMessage,
  match: RouteMatch | null,
  pattern: string | null,
  body: InspectedRequest['body'] | undefined,
): InspectedRequest => ({
  pattern,
  params: match?.params,
  query: match?.query,
  body: body ?? { kind: hasUnreadBody(request) ? 'unread' : 'none' },
})

function hasUnreadBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
