import { EventPage, EventQuery } from '@parley/contract/pulled-events'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { newPulling, type PulledPage, pullEvents } from './pulling/pull-events.ts'

export const eventRoutes = [
  route({
    method: 'GET',
    path: '/v1/events',
    scope: 'events:read',
    summary: 'Read events',
    description:
      'Returns the events of the workspace, as webhooks deliver them. It needs no webhook. Pass `next_cursor` as ' +
      '`after` in the next request, and store it in the transaction in which you process the events. Following `next_cursor` ' +
      'never skips an event or returns it twice. Every reader gets the events in the same order. With `wait`, the request ' +
      'waits for an event, and counts as one request. A cursor works with every key of the workspace.',
    tag: 'Events',
    query: EventQuery,
    // The bodies are sent as they are stored.
    reply: Type.Unsafe<PulledPage>(EventPage),
    toJson: writePage,
    errors: ['cursor_expired'],
    handle: (context, { query }) =>
      pullEvents(
        {
          db: context.db,
          clock: context.clock,
          workspaceId: context.caller.workspaceId,
          pulling: context.shared(newPulling),
          hold: (ms, subscribe) => context.hold(ms, subscribe),
        },
        query,
      ),
  }),
]

function writePage({ bodies, hasMore, nextCursor }: PulledPage): string {
  return `{"object":"list","data":[${bodies.join(',')}],"has_more":${hasMore},"next_cursor":${JSON.stringify(nextCursor)}}`
}
