import {
  CreditEntry,
  CreditsReply,
  CreditUsage,
  LowBalance,
  StatementFilters,
  StatementQuery,
} from '@parley/contract/console/credits'
import { listRoutes } from '../../http/console/list-routes.ts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { changeLowBalance, entries, readCredits, readUsage } from './console.ts'

export const creditConsoleRoutes = (): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/credits',
    who: 'credits:read',
    reply: CreditsReply,
    handle: ({ db, workspaceId }) => readCredits(db, workspaceId),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/credits/usage',
    who: 'credits:read',
    mayLag: true,
    reply: CreditUsage,
    handle: ({ db, clock, workspaceId }) => readUsage(db, clock.now(), workspaceId),
  }),
  workspaceRoute({
    method: 'PATCH',
    path: '/credits',
    who: 'settings:manage',
    body: LowBalance,
    reply: LowBalance,
    async handle({ db, workspaceId, audit }, { body }) {
      const before = await changeLowBalance(db, workspaceId, body.low_balance)
      await audit({ action: 'credits.warn_at', target: null, before: { low_balance: before }, after: body })
      db.notify(workspaceId, 'credits')
      return body
    },
  }),
  ...listRoutes(
    {
      path: '/credits/entries',
      csvPath: '/credits',
      who: 'credits:read',
      query: StatementQuery,
      filters: StatementFilters,
      item: CreditEntry,
    },
    entries,
  ),
]
