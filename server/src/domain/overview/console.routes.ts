import {
  FindQuery,
  Onboarding,
  Overview,
  OverviewQuery,
  Problems,
  SearchResults,
} from '@parley/contract/console/overview'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { readOnboarding, readOverview, readOverviewBefore } from './overview.ts'
import { listProblems } from './problems.ts'
import { search } from './search.ts'

export const overviewConsoleRoutes = ({ retentionDays }: { retentionDays: number }): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/overview',
    who: 'overview:read',
    mayLag: true,
    query: OverviewQuery,
    reply: Overview,
    handle: (context, { query }) => readOverview(context, query.period ?? '24h'),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/overview/before',
    who: 'overview:read',
    mayLag: true,
    query: OverviewQuery,
    reply: Overview,
    handle: (context, { query }) => readOverviewBefore(context, query.period ?? '24h', retentionDays),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/problems',
    who: 'overview:read',
    mayLag: true,
    reply: Problems,
    handle: async (context) => ({ object: 'list' as const, data: await listProblems(context) }),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/onboarding',
    who: 'overview:read',
    reply: Onboarding,
    handle: (context) => readOnboarding(context, context.person),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/find',
    who: 'overview:read',
    mayLag: true,
    query: FindQuery,
    reply: SearchResults,
    handle: (context, { query }) => search(context, query.q),
  }),
]
