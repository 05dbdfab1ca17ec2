import type { Db } from '../../db/db.ts'
import { refuseIfAny } from '../../lib/refuse.ts'
import { type SecretKeys, seal } from '../../lib/seal.ts'
import { type App, requireApp, secretErrors } from './apps.ts'
import {
  type AuditChange,
  type Connection,
  requireAccess,
  requireConnection,
  type StoredConnection,
} from './connections.ts'
import type { Network } from './network.ts'
import { setAccessToken, setAppSecrets } from './replace-secrets.sql.ts'
import { accessTokenContext, appSecretContext, verifyTokenContext } from './seal-contexts.ts'
import { syncConnection } from './sync.ts'

/** Replaces a connection's access token, once the network has accepted the new one. Until then the old one is used. */
export async function replaceAccessToken(
  network: Network,
  id: string,
  accessToken: string,
  audit?: AuditChange,
): Promise<StoredConnection & { remark: string | null }> {
  const { db } = network
  const current = await requireConnection(db, id)
  const { appId, wabaId } = current
  refuseIfAny(secretErrors('access_token', accessToken, 4000))
  const remark = await requireAccess(network, await requireApp(db, appId), { accessToken, wabaId })
  return { ...(await storeAccessToken(network, current, accessToken, audit)), remark }
}

/** Stores a token that was checked, and fetches the numbers and templates with it. */
export async function storeAccessToken(
  network: Network,
  current: Connection,
  accessToken: string,
  audit?: AuditChange,
): Promise<StoredConnection> {
  const { db, secretKeys } = network
  const { id } = current
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
