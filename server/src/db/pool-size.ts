import type { Logger } from '../telemetry/logger.ts'
import type { Db } from './db.ts'
import { listenerName } from './notices/change-notices.ts'

/**
 * Not in a pool: one listens for changes, one reads the routing revision, and one drops expired partitions or asks about
 * connections that went silent.
 */
const dedicated = 3

/** The size of each of the two pools: statements that see all workspaces, and statements within one. */
export const sizeOfEachPool = (databasePool: number): number => Math.floor((databasePool - dedicated) / 2)

/** Warns if PostgreSQL does not allow the connections that this process and the others on this database may open. */
export async function checkConnectionLimit(db: Db, log: Logger, databasePool: number): Promise<void> {
  const row = await db.first<{ allowed: number; processes: number }>(
    `select least(
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
           - coalesce(current_setting('reserved_connections', true)::int, 0),
         nullif((select rolconnlimit from pg_roles where rolname = current_user), -1),
         nullif((select datconnlimit from pg_database where datname = current_database()), -1)) as allowed,
       1 + (select count(*) from pg_stat_activity
            where application_name = $1 and datname = current_database()) as processes`,
    [listenerName],
  )
  if (!row || row.processes * databasePool <= row.allowed) return
  const { allowed, processes } = row
  const needed = processes * databasePool
  log.warn(
    { event: 'database.few_connections', processes, database_pool: databasePool, needed, allowed },
    `PostgreSQL allows ${allowed} connections, but ${processes} Parley processes with PARLEY_DATABASE_POOL=${databasePool} may open ${needed}. Raise max_connections, or lower PARLEY_DATABASE_POOL.`,
  )
}
