import { OverviewQuery } from '@parley/contract/console/overview'
import { ConsoleSender, SenderActivity, SenderDetail, SenderFilters, SyncReply } from '@parley/contract/console/senders'
import { SenderId } from '@parley/contract/ids'
import { List } from '@parley/contract/page'
import { csvRoute } from '../../http/console/list-routes.ts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { Strict } from '../../http/console/shapes.ts'
import { unpagedList } from '../../http/page.ts'
import { exportSenders, listForConsole, readActivity, readSender } from './console.ts'

const BySender = Strict({ id: SenderId })

interface Parts {
  /** Syncs the numbers and templates of every account of a workspace. */
  syncWorkspace(workspaceId: string): Promise<SyncReply>
}

export const senderConsoleRoutes = ({ syncWorkspace }: Parts): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/senders',
    who: 'senders:read',
    mayLag: true,
    query: SenderFilters,
    reply: List(ConsoleSender),
    handle: async ({ db, workspaceId }, { query }) => unpagedList(await listForConsole(db, workspaceId, query)),
  }),
  csvRoute({
    path: '/senders',
    who: 'senders:read',
    query: SenderFilters,
    lines: ({ db, workspaceId }, filters) => exportSenders(db, workspaceId, filters),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/senders/:id',
    who: 'senders:read',
    mayLag: true,
    params: BySender,
    reply: SenderDetail,
    handle: ({ db, workspaceId }, { params }) => readSender(db, workspaceId, params.id),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/senders/:id/activity',
    who: 'senders:read',
    mayLag: true,
    params: BySender,
    query: OverviewQuery,
    reply: SenderActivity,
    handle: (context, { params, query }) => readActivity(context, params.id, query.period ?? '24h'),
  }),
  workspaceRoute({
    method: 'POST',
    path: '/sync',
    who: 'network:sync',
    reply: SyncReply,
    // Waits for the network, so no transaction may be open.
    ownTransactions: true,
    async handle({ workspaceId, audit }) {
      const reply = await syncWorkspace(workspaceId)
      const after = Object.fromEntries(reply.accounts.map(({ account, outcome }) => [account, outcome]))
      await audit({ action: 'network.sync', target: null, after })
      return reply
    },
  }),
]
