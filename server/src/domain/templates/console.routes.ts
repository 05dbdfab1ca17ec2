import { ConsoleTemplate, TemplateFilters, TemplateQuery } from '@parley/contract/console/templates'
import { TemplateId } from '@parley/contract/ids'
import { Type } from 'typebox'
import { listRoutes } from '../../http/console/list-routes.ts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { getForConsole, templates } from './console.ts'

export const templateConsoleRoutes = (): ConsoleRoute[] => [
  ...listRoutes(
    {
      path: '/templates',
      who: 'templates:read',
      query: TemplateQuery,
      filters: TemplateFilters,
      item: ConsoleTemplate,
    },
    templates,
  ),
  workspaceRoute({
    method: 'GET',
    path: '/templates/:id',
    who: 'templates:read',
    params: Type.Object({ id: TemplateId }),
    reply: ConsoleTemplate,
    handle: ({ db, workspaceId }, { params }) => getForConsole(db, workspaceId, params.id),
  }),
]
