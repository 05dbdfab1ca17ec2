import type { Db } from '../../db/db.ts'

/** Also resets the failure count and the expiry, which belong to the old token. */
export const setAccessToken = (db: Db, id: string, sealed: string): Promise<number> =>
  db.change(
    `update connections set access_token_sealed = $2, sync_failures = 0, token_expires_at = null, token_seen_at = null
     where id = $1`,
    [id, sealed],
  )

/** Null keeps the current value. */
export const setAppSecrets = (
  db: Db,
  id: string,
  { appSecretSealed, verifyTokenSealed }: { appSecretSealed: string | null; verifyTokenSealed: string | null },
): Promise<number> =>
  db.change(
    `update apps set app_secret_sealed = coalesce($2, app_secret_sealed),
       verify_token_sealed = coalesce($3, verify_token_sealed) where id = $1`,
    [id, appSecretSealed, verifyTokenSealed],
  )
