import type { Db } from '../../db/db.ts'

// For operators: these read across all workspaces and change nothing.

export const readServer = (db: Db): Promise<{ version: string; now: Date; bytes: number } | undefined> =>
  db.first(
    `select current_setting('server_version') as version, clock_timestamp() as now,
       pg_database_size(current_database()) as bytes`,
  )

/** Whether our own role is exempt from row-level security. */
export const bypassesRowSecurity = (db: Db): Promise<{ bypasses: boolean; role: string } | undefined> =>
  db.first('select rolsuper or rolbypassrls as bypasses, rolname as role from pg_roles where rolname = current_user')
