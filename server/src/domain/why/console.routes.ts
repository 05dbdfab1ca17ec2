import { WhyQuery, WhyReport } from '@parley/contract/console/why'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { explainInConsole, type WhyParts } from './console.ts'

export const whyConsoleRoutes = (parts: WhyParts): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/why',
    who: 'messages:read',
    query: WhyQuery,
    reply: WhyReport,
    handle: (context, { query }) => explainInConsole(parts, context, query.about),
  }),
]
