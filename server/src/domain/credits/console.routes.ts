import {
  CreditEntry,
  CreditsReply,
  CreditUsage,
  LowBalance,
  StatementFilters,
  StatementQuery,
} from '@parley/contract/console/credits'
import { ConsoleList } from '@parley/contract/console/list'
import { csvRoute, totalRoute } from '../../http/console/list-routes.ts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { consolePageOf, readConsolePage } from '../../http/page.ts'
import {
  changeLowBalance,
  exportEntries,
  listEntries,
  markOf,
  readCredits,
  readUsage,
  toEntry,
  totalOfEntries,
} from './console.ts'

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
  workspaceRoute({
    method: 'GET',
    path: '/credits/entries',
    who: 'credits:read',
    mayLag: true,
    query: StatementQuery,
    reply: ConsoleList(CreditEntry),
    async handle({ db, workspaceId }, { query }) {
      const page = readConsolePage(query)
      return consolePageOf(page, await listEntries(db, workspaceId, query, page), markOf, toEntry)
    },
  }),
  totalRoute({
    path: '/credits/entries',
    who: 'credits:read',
    query: StatementFilters,
    total: ({ db, workspaceId }, filters) => totalOfEntries(db, workspaceId, filters),
  }),
  csvRoute({
    path: '/credits',
    who: 'credits:read',
    query: StatementFilters,
    lines: ({ db, workspaceId }, filters) => exportEntries(db, workspaceId, filters),
  }),
]
