import type { Db } from '../../db/db.ts'
import { RevisionedCache, readAt } from '../../db/revisioned-cache.ts'
import { batched } from '../../lib/batch.ts'
import type { HmacKey } from '../../lib/hmac.ts'
import { isUuid } from '../../lib/ids.ts'
import { open, type SecretKeys } from '../../lib/seal.ts'
import type { GraphAccess } from '../../whatsapp/client.ts'
import { networkKey } from '../../whatsapp/signature.ts'
import { accessTokenContext, appSecretContext, verifyTokenContext } from './seal-contexts.ts'
import { sealedAccesses, sealedApps } from './vault.sql.ts'

/** What the ingress needs of an app. */
export interface OpenApp {
  id: string
  appSecret: string
  /** The same, for what the network signs with it. */
  networkKey: HmacKey | null
  verifyToken: string
  /** The routing revision at which this was read. */
  revision: number
}

/**
 * Opened secrets, in memory only. Each look waits for one small statement, shared with every other look at that moment:
 * it names the routing revision, and while that is the one our copies were read at, the copies are right. A changed secret
 * thus counts at once, in every process.
 */
export interface Vault {
  openApp(appId: string): Promise<OpenApp | undefined>
  /** The app as it was when somebody last looked: right as long as its revision is the current one. */
  recallApp(appId: string): OpenApp | undefined
  /** The address and the token for calls in the name of a connected account. */
  accessFor(connectionId: string): Promise<GraphAccess | undefined>
}

const maxCopies = 10_000

/** A function, not the value: a secret that does not open fails those who want it and nobody else. */
type Opened<Value> = () => Value

export function newVault(db: Db, keys: SecretKeys): Vault {
  const apps = new RevisionedCache<Opened<OpenApp>>(
    async (ids) =>
      readAt(await sealedApps(db, ids), 'id', ({ id, ...sealed }, revision) => [
        id,
        opened(() => {
          const appSecret = open(keys, sealed.app_secret_sealed, appSecretContext(id))
          const verifyToken = open(keys, sealed.verify_token_sealed, verifyTokenContext(id))
          return { id, appSecret, networkKey: networkKey(appSecret), verifyToken, revision }
        }),
      ]),
    maxCopies,
  )
  const accesses = new RevisionedCache<Opened<GraphAccess>>(
    async (ids) =>
      readAt(await sealedAccesses(db, ids), 'id', ({ id, graph_url: graphUrl, access_token_sealed: sealed }) => [
        id,
        opened(() => ({ graphUrl, accessToken: open(keys, sealed, accessTokenContext(id)) })),
      ]),
    maxCopies,
  )
  return {
    openApp: lookInto(apps),
    recallApp(id) {
      try {
        return apps.get(id)?.()
      } catch {
        // It did not open then; it may by now.
        return undefined
      }
    },
    accessFor: lookInto(accesses),
  }
}

function lookInto<Value>(cache: RevisionedCache<Opened<Value>>): (id: string) => Promise<Value | undefined> {
  const look = batched(
    async (ids: string[]) => {
      const { values } = await cache.find(ids)
      return ids.map((id) => values.get(id))
    },
    { maxItems: 1000 },
  )
  return async (id) => (isUuid(id) ? (await look(id))?.() : undefined)
}

function opened<Value>(openIt: () => Value): Opened<Value> {
  try {
    const value = openIt()
    return () => value
  } catch (error) {
    return () => {
      throw error
    }
  }
}
