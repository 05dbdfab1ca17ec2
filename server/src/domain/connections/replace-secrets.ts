import type { Db } from '../../db/db.ts'
import { refuseIfAny } from '../../lib/refuse.ts'
import { open, type SecretKeys, seal } from '../../lib/seal.ts'
import { type App, requireApp, secretErrors } from './apps.ts'
import { type AuditChange, type Connection, requireConnection, requireSuccess } from './connections.ts'
import type { Network } from './network.ts'
import { localApps, localConnections, setAccessToken, setAppSecrets } from './replace-secrets.sql.ts'
import { accessTokenContext, appSecretContext, verifyTokenContext } from './seal-contexts.ts'
import { type SyncOutcome, syncConnection } from './sync.ts'

/** Replaces a connection's access token, once the network has accepted the new one. Until then the old one is used. */
export async function replaceAccessToken(
  network: Network,
  id: string,
  accessToken: string,
  audit?: AuditChange,
): Promise<{ connection: Connection; sync: SyncOutcome }> {
  const { db, client, secretKeys } = network
  const current = await requireConnection(db, id)
  const { appId, wabaId } = current
  refuseIfAny(secretErrors('access_token', accessToken, 4000))
  const access = { graphUrl: (await requireApp(db, appId)).graphUrl, accessToken }
  requireSuccess(await client.listPhoneNumbers(access, wabaId), access)
  requireSuccess(await client.subscribeApp(access, wabaId), access)
  await db.transaction(async (tx) => {
    await setAccessToken(tx, id, seal(secretKeys, accessToken, accessTokenContext(id)))
    await audit?.(tx, current)
  })
  const sync = await syncConnection(network, id)
  return { connection: await requireConnection(db, id), sync }
}

/** Replaces an app's secret, verify token, or both. Takes effect with the next webhook. */
export async function replaceAppSecrets(
  db: Db,
  keys: SecretKeys,
  id: string,
  { appSecret, verifyToken }: { appSecret?: string | undefined; verifyToken?: string | undefined },
): Promise<App> {
  const app = await requireApp(db, id)
  const sealed = (param: string, secret: string | undefined, context: string) => {
    if (secret === undefined) return null
    refuseIfAny(secretErrors(param, secret, 500))
    return seal(keys, secret, context)
  }
  await setAppSecrets(db, id, {
    appSecretSealed: sealed('app_secret', appSecret, appSecretContext(id)),
    verifyTokenSealed: sealed('verify_token', verifyToken, verifyTokenContext(id)),
  })
  return app
}

export interface NetworkSecrets {
  appSecret: string
  verifyToken: string
  accessToken: string
}

/**
 * Replaces secrets of a network on this machine (the simulator) in all apps and connections that have them, in one
 * transaction. Unlike the functions above, it does not ask the network, which is not running yet.
 */
export async function exchangeSecrets(
  db: Db,
  keys: SecretKeys,
  old: NetworkSecrets,
  next: NetworkSecrets,
): Promise<void> {
  const exchanged = (sealed: string, name: keyof NetworkSecrets, context: string) =>
    isSecret(keys, sealed, context, old[name]) ? seal(keys, next[name], context) : null
  await db.transaction(async (tx) => {
    for (const { id, app_secret_sealed, verify_token_sealed } of await localApps(tx)) {
      const appSecretSealed = exchanged(app_secret_sealed, 'appSecret', appSecretContext(id))
      const verifyTokenSealed = exchanged(verify_token_sealed, 'verifyToken', verifyTokenContext(id))
      if (appSecretSealed ?? verifyTokenSealed) await setAppSecrets(tx, id, { appSecretSealed, verifyTokenSealed })
    }
    for (const { id, access_token_sealed } of await localConnections(tx)) {
      const sealed = exchanged(access_token_sealed, 'accessToken', accessTokenContext(id))
      if (sealed) await setAccessToken(tx, id, sealed)
    }
  })
}

/** False for a secret whose key is missing: it cannot be read and stays as it is. */
function isSecret(keys: SecretKeys, sealed: string, context: string, secret: string): boolean {
  try {
    return open(keys, sealed, context) === secret
  } catch {
    return false
  }
}
