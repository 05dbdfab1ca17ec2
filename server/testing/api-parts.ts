import type { ApiDeps } from '../src/api.ts'
import type { Db } from '../src/db/db.ts'
import { newNetwork } from '../src/domain/connections/network.ts'
import type { Clock } from '../src/lib/clock.ts'
import type { SecretKeys } from '../src/lib/seal.ts'
import { GraphClient } from '../src/whatsapp/client.ts'
import { localRules } from './deliveries.ts'

/** What the API of a test has besides its database. It opens no connection before it is asked to speak with the network. */
export function apiParts(db: Db, clock: Clock, secretKeys: SecretKeys): ApiDeps['parts'] {
  return {
    network: newNetwork({ db, clock, secretKeys, client: new GraphClient({ productVersion: 'test' }) }),
    secretKeys: () => secretKeys,
    targetRules: localRules,
    simulatorUrl: () => null,
    retentionDays: 30,
  }
}
