import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { SecretKeys } from '../../lib/seal.ts'
import type { GraphClient } from '../../whatsapp/client.ts'
import { newVault, type Vault } from './vault.ts'

/** What it takes to speak with the network in the name of connected accounts. */
export interface Network {
  /** Sees every workspace. */
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
