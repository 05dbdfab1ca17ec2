import { ConsoleList } from '@parley/contract/console/list'
import { ConsoleTemplate, TemplateQuery } from '@parley/contract/console/templates'
import { TemplateId } from '@parley/contract/ids'
import { Type } from 'typebox'
import { consolePageOf, readConsolePage } from '../../http/console/list.ts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { getForConsole, listForConsole, toConsoleTemplate } from './console.ts'
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
]
