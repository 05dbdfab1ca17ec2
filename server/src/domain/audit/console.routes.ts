import { AuditEntry, auditFilters } from '@parley/contract/console/audit'
import { ConsoleList } from '@parley/contract/console/list'
import { pageQuery } from '@parley/contract/page'
import { type Static, Type } from 'typebox'
import { csvRoute } from '../../http/console/list-routes.ts'
import { type ConsoleRoute, operatorRoute, type WorkspaceContext, workspaceRoute } from '../../http/console/route.ts'
import { consolePageOf, readPage } from '../../http/page.ts'
import { auditFacets, auditPage } from './audit.ts'
import { type AuditLookups, exportAudit, newEntryMaker, toAuditQuery } from './console.ts'

const { order: _newestFirst, ...paging } = pageQuery
const Facets = Type.Object({ actors: Type.Array(Type.String()), actions: Type.Array(Type.String()) })
const Query = Type.Object({ ...paging, ...auditFilters }, { additionalProperties: false })
const Entries = ConsoleList(AuditEntry)

export const auditConsoleRoutes = (lookups: AuditLookups): ConsoleRoute[] => {
  /** Null: the entries that belong to no workspace. */
  const list = async (
    { db }: Pick<WorkspaceContext, 'db'>,
    workspaceId: string | null,
    query: Static<typeof Query>,
  ) => {
    const page = readPage(query)
    const rows = await auditPage(db, workspaceId, toAuditQuery(query), page)
    return consolePageOf(page, rows, await newEntryMaker(lookups, db, rows))
  }
  return [
    workspaceRoute({
      method: 'GET',
      path: '/audit',
      who: 'audit:read',
      mayLag: true,
      query: Query,
      reply: Entries,
      handle: (context, { query }) => list(context, context.workspaceId, query),
    }),
    workspaceRoute({
      method: 'GET',
      path: '/audit/facets',
      who: 'audit:read',
      mayLag: true,
      reply: Facets,
      handle: ({ db, workspaceId }) => auditFacets(db, workspaceId),
    }),
    csvRoute({
      path: '/audit',
      who: 'audit:read',
      query: Type.Object(auditFilters, { additionalProperties: false }),
      lines: ({ db, workspaceId }, filters) => exportAudit(lookups, db, workspaceId, toAuditQuery(filters)),
    }),
    operatorRoute({
      method: 'GET',
      path: '/operator/audit',
      mayLag: true,
      query: Query,
      reply: Entries,
      handle: (context, { query }) => list(context, null, query),
    }),
    operatorRoute({
      method: 'GET',
      path: '/operator/audit/facets',
      mayLag: true,
      reply: Facets,
      handle: ({ db }) => auditFacets(db, null),
    }),
  ]
}
