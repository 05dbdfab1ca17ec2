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

/**
 * Transactions of any database of the server that have written and are open for longer than this. Sessions of other roles
 * are visible to members of pg_monitor only.
 */
export const readLongTransactions = (db: Db, seconds: number): Promise<{ what: string }[]> =>
  db.rows(
    `select what || ', since ' || to_char(since at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC' as what from (
       select format('process %s, database %s, role %s', pid, datname, usename) as what, xact_start as since
       from pg_stat_activity where backend_xid is not null
       union all
       select format('prepared transaction %s, database %s, role %s', gid, database, owner), prepared from pg_prepared_xacts
     ) as t where since < clock_timestamp() - $1 * interval '1 second' order by since`,
    [seconds],
  )
