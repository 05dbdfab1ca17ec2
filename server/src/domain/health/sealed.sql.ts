import type { Db } from '../../db/db.ts'

/** A column with encrypted secrets: `<key ID>:<base64>`, or null. Its name ends in `_sealed`. */
export interface SealedColumn {
  column: string
  from: string
  update: string
  /** Rows whose secret is still used. */
  live: string
}

const ofApps = { from: 'from apps', update: 'update apps', live: 'true' }
const ofWebhooks = { from: 'from webhooks', update: 'update webhooks', live: 'deleted_at is null' }

/** Every column with encrypted secrets. A test compares the list with the schema. */
export const sealedColumns = {
  appSecret: { column: 'app_secret_sealed', ...ofApps },
  verifyToken: { column: 'verify_token_sealed', ...ofApps },
  accessToken: { column: 'access_token_sealed', from: 'from connections', update: 'update connections', live: 'true' },
  signingSecret: { column: 'secret_sealed', ...ofWebhooks },
  stagedSecret: { column: 'staged_secret_sealed', ...ofWebhooks },
  headers: { column: 'headers_sealed', ...ofWebhooks },
  totp: { column: 'totp_sealed', from: 'from people', update: 'update people', live: 'true' },
  mailSecret: { column: 'secret_sealed', from: 'from mails', update: 'update mails', live: 'true' },
} satisfies Record<string, SealedColumn>

export interface SealedSecret {
  id: string
  sealed: string
}

export const liveSecrets = (db: Db, { column, from, live }: SealedColumn): Promise<SealedSecret[]> =>
  db.rows(`select id, ${column} as sealed ${from} where ${column} is not null and ${live} order by id`)

/** Secrets that another key encrypts, by ID; also of deleted rows, which are not used any more. */
export const secretsOfOtherKeys = (
  db: Db,
  { column, from, live }: SealedColumn,
  keyId: string,
  afterId: string,
  take: number,
): Promise<(SealedSecret & { used: boolean })[]> =>
  db.rows(
    `select id, ${column} as sealed, ${live} as used ${from}
     where id > $2 and ${column} is not null and not starts_with(${column}, $1 || ':') order by id limit $3`,
    [keyId, afterId, take],
  )

/** Replaces secrets, unless they changed since they were read. */
export const replaceSecrets = (
  db: Db,
  { column, update }: SealedColumn,
  secrets: readonly (SealedSecret & { resealed: string })[],
): Promise<number> =>
  db.change(
    `${update} as each set ${column} = secret.resealed
     from unnest($1::uuid[], $2::text[], $3::text[]) as secret (id, sealed, resealed)
     where each.id = secret.id and each.${column} = secret.sealed`,
    [secrets.map(({ id }) => id), secrets.map(({ sealed }) => sealed), secrets.map(({ resealed }) => resealed)],
  )

/** How many secrets that are still used each key encrypts. */
export const countByKey = (
  db: Db,
  { column, from, live }: SealedColumn,
): Promise<{ key_id: string; count: number }[]> =>
  db.rows(
    `select split_part(${column}, ':', 1) as key_id, count(*)::int as count ${from}
     where ${column} is not null and ${live} group by 1`,
  )
