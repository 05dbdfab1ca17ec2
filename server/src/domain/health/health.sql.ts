import type { Db } from '../../db/db.ts'

// For operators: these read across all workspaces and change nothing.

export const readServer = (db: Db): Promise<{ version: string; now: Date; bytes: number } | undefined> =>
  db.first(
    `select current_setting('server_version') as version, clock_timestamp() as now,
       pg_database_size(current_database()) as bytes`,
  )

/** Whether our own role is exempt from row-level security. */
export const bypassesRowSecurity = (db: Db): Promise<{ bypasses: boolean; role: string } | undefined> =>
  db.first('select rolsuper or rolbypassrls as above, rolname as role from pg_roles where rolname = current_user')

/** Every encrypted secret in the database, to try with the configured keys. */
export const sealedSecrets = (
  db: Db,
): Promise<{ kind: 'app' | 'connection' | 'endpoint' | 'person'; id: string; sealed: string[] }[]> =>
  db.rows(
    `select 'app' as kind, id, array[app_secret_sealed, verify_token_sealed] as sealed from apps
     union all select 'connection', id, array[access_token_sealed] from connections
     union all select 'endpoint', id, array_remove(array[secret_sealed, staged_secret_sealed], null) from webhooks where deleted_at is null
     union all select 'person', id, array[totp_sealed] from people where totp_sealed is not null`,
  )
