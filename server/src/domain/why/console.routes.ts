import { WhyQuery, WhyReport } from '@parley/contract/console/why'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { explainInConsole, newSharedInspection, type WhyParts } from './console.ts'

export function whyConsoleRoutes(parts: Omit<WhyParts, 'inspect'>): ConsoleRoute[] {
  const inspect = newSharedInspection()
  return [
    workspaceRoute({
      method: 'GET',
      path: '/why',
      who: 'messages:read',
      query: WhyQuery,
      reply: WhyReport,
      handle: (context, { query }) => explainInConsole({ ...parts, inspect }, context, query.about),
    }),
  ]
}
