import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { SecretKeys } from '../../lib/seal.ts'
import type { GraphClient } from '../../whatsapp/graph/client.ts'
import { newVault, type Vault } from './vault.ts'

/** The dependencies of calls to the network on behalf of connected accounts. */
export interface Network {
  /** Must see all workspaces. */
  db: Db
  clock: Clock
  secretKeys: SecretKeys
  client: GraphClient
  vault: Vault
}

export const newNetwork = (parts: Omit<Network, 'vault'>): Network => ({
  ...parts,
  vault: newVault(parts.db, parts.secretKeys),
})
