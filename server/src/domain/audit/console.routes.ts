import { AuditEntry } from '@parley/contract/console/audit'
import { List, pageQuery } from '@parley/contract/page'
import { Type } from 'typebox'
import { type ConsoleRoute, personRoute, workspaceRoute } from '../../http/console/route.ts'
import { Streamed, streamCsv } from '../../http/console/stream.ts'
import { pageOf, readPage } from '../../http/page.ts'
import { csvLines } from '../../lib/csv.ts'
import { type AuditQuery, type AuditRow, auditFacets, auditPage, newestEntries } from './audit.ts'

const { order: _newestFirst, ...paging } = pageQuery
const FilterText = Type.Optional(Type.String({ minLength: 1, maxLength: 300 }))
const filters = { actor: FilterText, action: FilterText, target: FilterText }
const Facets = Type.Object({ actors: Type.Array(Type.String()), actions: Type.Array(Type.String()) })
const Query = Type.Object({ ...paging, ...filters }, { additionalProperties: false })

export const auditConsoleRoutes = (): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/audit',
    who: 'audit:read',
    mayLag: true,
    query: Query,
    reply: Type.Omit(List(AuditEntry), ['total']),
    async handle({ db, workspaceId }, { query }) {
      const page = readPage(query)
      const { total: _, ...list } = pageOf(
        page,
        await auditPage(db, workspaceId, toQuery(query), page),
        0,
        markOf,
        toEntry,
      )
      return list
    },
  }),
  workspaceRoute({
    method: 'GET',
    path: '/audit/facets',
    who: 'audit:read',
    mayLag: true,
    reply: Facets,
    handle: ({ db, workspaceId }) => auditFacets(db, workspaceId),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/audit.csv',
    who: 'audit:read',
    mayLag: true,
    confirmed: true,
    audited: true,
    query: Type.Object(filters, { additionalProperties: false }),
    reply: Streamed,
    async handle(context, { query }) {
      const { db, workspaceId } = context
      const rows = await newestEntries(db, workspaceId, toQuery(query), 50_000)
      const head = ['at', 'actor', 'action', 'target', 'target_name', 'before', 'after', 'address', 'user_agent']
      const lines = rows
        .map(toEntry)
        .map((entry) => [
          entry.at,
          entry.actor,
          entry.action,
          entry.target,
          entry.target_name,
          entry.before && JSON.stringify(entry.before),
          entry.after && JSON.stringify(entry.after),
          entry.address,
          entry.user_agent,
        ])
      return streamCsv(context, 'audit.csv', query, [csvLines([head, ...lines])])
    },
  }),
  personRoute({
    method: 'GET',
    path: '/operator/audit',
    who: 'operator',
    mayLag: true,
    query: Query,
    reply: Type.Omit(List(AuditEntry), ['total']),
    async handle({ db }, { query }) {
      const page = readPage(query)
      const { total: _, ...list } = pageOf(page, await auditPage(db, null, toQuery(query), page), 0, markOf, toEntry)
      return list
    },
  }),
  personRoute({
    method: 'GET',
    path: '/operator/audit/facets',
    who: 'operator',
    mayLag: true,
    reply: Facets,
    handle: ({ db }) => auditFacets(db, null),
  }),
]

const toQuery = ({ actor, action, target }: Partial<AuditQuery>): AuditQuery => ({
  actor: actor ?? null,
  action: action ?? null,
  target: target ?? null,
})

const markOf = ({ at, id }: AuditRow) => ({ at, id })

const toEntry = (row: AuditRow): AuditEntry => ({
  id: row.id,
  at: row.at.toISOString(),
  actor: row.actor,
  action: row.action,
  target: row.target,
  target_name: row.target_name,
  before: row.before as AuditEntry['before'],
  after: row.after as AuditEntry['after'],
  address: row.address,
  user_agent: row.user_agent,
})
