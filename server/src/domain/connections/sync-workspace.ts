import type { SyncReply } from '@parley/contract/console/senders'
import { type Connection, listConnections } from './connections.ts'
import type { Network } from './network.ts'
import { type SyncOutcome, syncConnection } from './sync.ts'

/** Synchronises every account of a workspace now, and says how each fared. */
export async function syncWorkspace(network: Network, workspaceId: string): Promise<SyncReply> {
  const connections = await listConnections(network.db, workspaceId)
  const accounts = []
  // One after the other: there are few, and the network counts calls.
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
