import type { SyncReply } from '@parley/contract/console/senders'
import { type Connection, listConnections } from './connections.ts'
import type { Network } from './network.ts'
import { type SyncOutcome, syncConnection } from './sync.ts'

/** Syncs every account of a workspace now and returns the result of each. */
export async function syncWorkspace(network: Network, workspaceId: string): Promise<SyncReply> {
  const connections = await listConnections(network.db, workspaceId)
  const accounts = []
  // Sequentially: there are few, and the network limits the rate of calls.
  for (const connection of connections)
    accounts.push(toAccount(connection, await syncConnection(network, connection.id)))
  return { accounts }
}

function toAccount({ wabaId }: Connection, outcome: SyncOutcome): SyncReply['accounts'][number] {
  const { kind } = outcome
  const remark = kind === 'failed' ? outcome.why : kind === 'synced' ? outcome.remark : null
  const [senders, templates] = kind === 'synced' ? [outcome.senders, outcome.templates] : [0, 0]
  return { account: wabaId, outcome: kind, senders, templates, remark }
}
