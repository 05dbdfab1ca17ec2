import type { Db } from '../../db/db.ts'
import { RevisionedCache, readAt } from '../../db/revisioned-cache.ts'
import type { HmacKey } from '../../lib/hmac.ts'
import { isUuid } from '../../lib/ids.ts'
import { open, type SecretKeys } from '../../lib/seal.ts'
import { batched } from '../../sharing/batch.ts'
import type { GraphAccess } from '../../whatsapp/graph/client.ts'
import { networkKey } from '../../whatsapp/incoming/signature.ts'
import { accessTokenContext, appSecretContext, verifyTokenContext } from './seal-contexts.ts'
import { sealedAccesses, sealedApps } from './vault.sql.ts'

/** An app with its decrypted secrets, for the ingress. */
export interface OpenApp {
  id: string
  appSecret: string
  /** The app secret as a key for the signatures of webhooks. */
  networkKey: HmacKey | null
  verifyToken: string
  /** The routing revision this was read at. */
  revision: number
}

/**
 * A cache of decrypted secrets, in memory only. Each lookup waits for one small statement, shared by concurrent
 * lookups, that reads the routing revision. While that is unchanged, the cached secrets are current. A changed secret
 * therefore takes effect immediately in every process.
 */
export interface Vault {
  openApp(appId: string): Promise<OpenApp | undefined>
  /** The cached app, without a query. Current only if its revision is still the current one. */
  cachedApp(appId: string): OpenApp | undefined
  /** The Graph URL and the access token of a connected account. */
  accessFor(connectionId: string): Promise<GraphAccess | undefined>
}

const maxCached = 10_000

/** A function, so that a secret that cannot be decrypted fails only the lookups of that secret. */
type Decrypted<Value> = () => Value

export function newVault(db: Db, keys: SecretKeys): Vault {
  const apps = new RevisionedCache<Decrypted<OpenApp>>(
    async (ids) =>
      readAt(await sealedApps(db, ids), 'id', ({ id, ...sealed }, revision) => [
        id,
        decrypted(() => {
          const appSecret = open(keys, sealed.app_secret_sealed, appSecretContext(id))
          const verifyToken = open(keys, sealed.verify_token_sealed, verifyTokenContext(id))
          return { id, appSecret, networkKey: networkKey(appSecret), verifyToken, revision }
        }),
      ]),
    maxCached,
  )
  const accesses = new RevisionedCache<Decrypted<GraphAccess>>(
    async (ids) =>
      readAt(await sealedAccesses(db, ids), 'id', ({ id, graph_url: graphUrl, access_token_sealed: sealed }) => [
        id,
        decrypted(() => ({ graphUrl, accessToken: open(keys, sealed, accessTokenContext(id)) })),
      ]),
    maxCached,
  )
  return {
    openApp: lookupIn(apps),
    cachedApp(id) {
      try {
        return apps.get(id)?.()
      } catch {
        // Decrypting failed at that time; the secret may have been replaced since.
        return undefined
      }
    },
    accessFor: lookupIn(accesses),
  }
}

function lookupIn<Value>(cache: RevisionedCache<Decrypted<Value>>): (id: string) => Promise<Value | undefined> {
  const lookup = batched(
    async (ids: string[]) => {
      const { values } = await cache.find(ids)
      return ids.map((id) => values.get(id))
    },
    { maxItems: 1000 },
  )
  return async (id) => (isUuid(id) ? (await lookup(id))?.() : undefined)
}

function decrypted<Value>(decrypt: () => Value): Decrypted<Value> {
  try {
    const value = decrypt()
    return () => value
  } catch (error) {
    return () => {
      throw error
    }
  }
}
