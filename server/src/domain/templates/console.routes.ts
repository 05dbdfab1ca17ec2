import { ConsoleList } from '@parley/contract/console/list'
import { ConsoleTemplate, TemplateFilters, TemplateQuery } from '@parley/contract/console/templates'
import { TemplateId } from '@parley/contract/ids'
import { Type } from 'typebox'
import { csvRoute, totalRoute } from '../../http/console/list-routes.ts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { consolePageOf, readConsolePage } from '../../http/page.ts'
import { exportTemplates, getForConsole, listForConsole, toConsoleTemplate, totalOfTemplates } from './console.ts'
import { markOf } from './templates.ts'

export const templateConsoleRoutes = (): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/templates',
    who: 'templates:read',
    mayLag: true,
    query: TemplateQuery,
    reply: ConsoleList(ConsoleTemplate),
    async handle({ db, workspaceId }, { query }) {
      const page = readConsolePage(query)
      return consolePageOf(page, await listForConsole(db, workspaceId, query, page), markOf, toConsoleTemplate)
    },
  }),
  workspaceRoute({
    method: 'GET',
    path: '/templates/:id',
    who: 'templates:read',
    params: Type.Object({ id: TemplateId }),
    reply: ConsoleTemplate,
    handle: ({ db, workspaceId }, { params }) => getForConsole(db, workspaceId, params.id),
  }),
  totalRoute({
    path: '/templates',
    who: 'templates:read',
    query: TemplateFilters,
    total: ({ db, workspaceId }, filters) => totalOfTemplates(db, workspaceId, filters),
  }),
  csvRoute({
    path: '/templates',
    who: 'templates:read',
    query: TemplateFilters,
    lines: ({ db, workspaceId }, filters) => exportTemplates(db, workspaceId, filters),
  }),
]
