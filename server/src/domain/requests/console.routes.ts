import {
  ApiErrorDetail,
  ApiErrorFilters,
  ApiErrorGroups,
  ApiErrorQuery,
  MutedReply,
} from '@parley/contract/console/api-errors'
import { LoggedRequests, RequestDetail, RequestFilters, requestFilters } from '@parley/contract/console/requests'
import { pageQuery } from '@parley/contract/page'
import { Type } from 'typebox'
import { barsRoute, csvRoute, totalRoute } from '../../http/console/list-routes.ts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { readCursor, writeCursor } from '../../http/page.ts'
import { exportApiErrors, getApiErrorGroup, groupApiErrors, muteApiError, unmuteApiError } from './api-errors.ts'
import { apiErrorBars, requestBars } from './bars.ts'
import { getRequest, keyNames, type RequestLookups, searchRequests, totalOfRequests } from './console.ts'
import { exportRequests } from './export.ts'

const CodeParams = Type.Object({ code: Type.String({ pattern: '^[a-z_]{1,60}$' }) })
const { limit, cursor } = pageQuery

/** `days` is how long bodies and error responses are stored. */
export const requestConsoleRoutes = (lookups: RequestLookups, days: number): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/requests',
    who: 'requests:read',
    mayLag: true,
    query: Type.Object({ limit, cursor, after: cursor, ...requestFilters }, { additionalProperties: false }),
    reply: LoggedRequests,
    async handle({ db, workspaceId }, { query: { limit = 50, cursor, after, ...filters } }) {
      const keys = await keyNames(lookups, db, workspaceId)
      const { next, newest, ...found } = await searchRequests(db, workspaceId, keys, filters, {
        limit,
        before: cursor === undefined ? null : readCursor(cursor),
        after: after === undefined ? null : readCursor(after),
      })
      return { ...found, next_cursor: next && writeCursor(next), newest_cursor: newest && writeCursor(newest) }
    },
  }),
  workspaceRoute({
    method: 'GET',
    path: '/requests/:id',
    who: 'requests:read',
    params: Type.Object({ id: Type.String({ maxLength: 60 }) }),
    reply: RequestDetail,
    handle: ({ db, clock, workspaceId }, { params }) => getRequest(lookups, db, clock, workspaceId, params.id, days),
  }),
  totalRoute({
    path: '/requests',
    who: 'requests:read',
    query: RequestFilters,
    total: ({ db, workspaceId }, filters) => totalOfRequests(db, workspaceId, filters),
  }),
  barsRoute({
    path: '/requests',
    who: 'requests:read',
    query: RequestFilters,
    bars: ({ db, clock, workspaceId }, query) => requestBars(db, clock.now(), workspaceId, query),
  }),
  csvRoute({
    path: '/requests',
    who: 'requests:read',
    query: RequestFilters,
    lines: async ({ db, workspaceId }, filters) =>
      exportRequests(db, workspaceId, await keyNames(lookups, db, workspaceId), filters),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/refusals',
    who: 'requests:read',
    mayLag: true,
    query: ApiErrorFilters,
    reply: ApiErrorGroups,
    handle: async ({ db, clock, workspaceId }, { query }) =>
      groupApiErrors(db, clock, workspaceId, await keyNames(lookups, db, workspaceId), query, days),
  }),
  barsRoute({
    path: '/refusals',
    who: 'requests:read',
    query: ApiErrorFilters,
    bars: ({ db, clock, workspaceId }, query) => apiErrorBars(db, clock.now(), workspaceId, query),
  }),
  csvRoute({
    path: '/refusals',
    file: 'api-errors',
    who: 'requests:read',
    query: ApiErrorFilters,
    lines: async ({ db, clock, workspaceId }, filters) =>
      exportApiErrors(db, clock, workspaceId, await keyNames(lookups, db, workspaceId), filters, days),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/refusals/:code',
    who: 'requests:read',
    params: CodeParams,
    query: ApiErrorQuery,
    reply: ApiErrorDetail,
    handle: async ({ db, clock, workspaceId }, { params, query }) => {
      const keys = await keyNames(lookups, db, workspaceId)
      return getApiErrorGroup(db, clock, workspaceId, keys, params.code, query, days)
    },
  }),
  workspaceRoute({
    method: 'PUT',
    path: '/refusals/:code/mute',
    who: 'requests:read',
    params: CodeParams,
    reply: MutedReply,
    async handle({ db, clock, workspaceId, person, audit }, { params: { code } }) {
      await muteApiError(db, clock, workspaceId, code, person.email)
      await audit({ action: 'refusals.mute', target: code })
      db.notify(workspaceId, 'requests')
      return { code, muted: true }
    },
  }),
  workspaceRoute({
    method: 'DELETE',
    path: '/refusals/:code/mute',
    who: 'requests:read',
    params: CodeParams,
    reply: MutedReply,
    async handle({ db, workspaceId, audit }, { params: { code } }) {
      await unmuteApiError(db, workspaceId, code)
      await audit({ action: 'refusals.unmute', target: code })
      db.notify(workspaceId, 'requests')
      return { code, muted: false }
    },
  }),
]
