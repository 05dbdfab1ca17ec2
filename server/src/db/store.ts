import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { poolSize } from '../lib/database-settings.ts'
import { isDiskError } from '../lib/disk.ts'
import { StartupError } from '../lib/refuse.ts'
import type { Logger } from '../telemetry/logger.ts'
import { toConnection } from './connect/connection.ts'
import { backgroundLimits, requestLimits } from './connect/limits.ts'
import { type Connection, type Database, openDatabase } from './db.ts'
import { openEmbedded } from './embedded/embedded.ts'
import { toStartupError } from './embedded/explain-error.ts'
import { migrate, programVersion } from './migrate/migrate.ts'
import { FailedMigration, type MigrationOptions } from './migrate/run-steps.ts'
import { checkConnectionLimit, sizeOfEachPool } from './pool-size.ts'
import { requireUsable } from './schema-version.ts'

export interface Store {
  db: Database
  connection: Connection
  /** The migrations that were applied while opening. */
  applied: string[]
  close(): Promise<void>
}

export interface StoreLocation {
  /** Null for the embedded database in `dataDir`. */
  databaseUrl: string | null
  /** PostgreSQL itself, if `databaseUrl` leads to a pooler that shares connections between transactions. */
  databaseDirectUrl?: string | null
  dataDir: string
  databasePool?: number
}

/** A service that starts during a failover, or while another one stops, waits this long for the database. */
const startWait = { totalMs: 30_000, everyMs: 1_000 }

const closeMs = 2_000

export interface StoreOptions {
  purpose: 'service' | 'visitor'
  log: Logger
  say?: (line: string) => void
  /**
   * `migrate`: creates the database if needed, and migrates it to the schema version of this program. `require`: fails
   * if this program cannot use the schema. `ignore`: opens any version. Only `migrate` changes the database.
   */
  schema: 'migrate' | 'require' | 'ignore'
  signal?: AbortSignal
}

export const logMigrations = (log: Logger): MigrationOptions => ({
  onStart(from, to, migrations) {
    // The first start creates the database, which is no news.
    if (from === 0) return
    const fields = { event: 'migration.started', from, to, migrations } as const
    log.info(fields, `migrating the database from version ${from} to ${to}`)
  },
  onProgress: (message) => log.info({ event: 'migration.progress' }, message),
  onWait: (message) => log.info({ event: 'migration.waits' }, message),
})

/** Opens the database of this installation: the embedded one, or the one in DATABASE_URL. */
export async function openStore(
  config: StoreLocation,
  { purpose, log, say = () => {}, schema, signal }: StoreOptions,
): Promise<Store> {
  const { dataDir, databasePool = poolSize.default } = config
  if (config.databaseUrl === null && schema !== 'migrate' && !hasEmbedded(dataDir)) {
    throw new StartupError(`No database found in ${dataDir}. Run "./parley start" or "./parley migrate" first.`)
  }
  const embedded =
    config.databaseUrl === null ? await openEmbedded({ dataDir, purpose, say, ...(signal ? { signal } : {}) }) : null
  const connection: Connection =
    embedded?.connection ?? toConnection(config.databaseUrl as string, config.databaseDirectUrl)
  const whenAvailable = <T>(open: () => Promise<T>) =>
    purpose === 'service' ? retryWhileBusy(open, log, signal) : open()
  try {
    signal?.throwIfAborted()
    // A command has no log.
    const tell = (message: string) => say(`${message}.`)
    const reports = purpose === 'visitor' ? { onProgress: tell, onWait: tell } : logMigrations(log)
    const applied =
      schema === 'migrate' ? await whenAvailable(() => migrate(connection, undefined, { ...reports, signal })) : []
    const db = openDatabase(
      connection,
      logDatabaseErrors(log),
      sizeOfEachPool(databasePool),
      // A command is not a request that times out, and some read a whole workspace.
      purpose === 'service' ? requestLimits : backgroundLimits,
    )
    try {
      if (schema === 'require') await requireUsable(db, programVersion())
      else if (schema === 'ignore') await db.rows('select 1')
      if (connection.direct) await whenAvailable(() => requireSameDatabase(db))
      else if (purpose === 'service') await whenAvailable(() => checkConnectionLimit(db, log, databasePool))
    } catch (error) {
      await db.close()
      throw error
    }
    return {
      db,
      connection,
      applied,
      async close() {
        // A statement may be running, or the server may not respond. PostgreSQL ends what is left.
        await Promise.race([db.close(), sleep(closeMs, undefined, { ref: false })])
        await embedded?.close()
      },
    }
  } catch (error) {
    await embedded?.close()
    throw signal?.aborted ? error : explainError(error, embedded ? dataDir : null, config)
  }
}

export const logDatabaseErrors =
  (log: Logger) =>
  (error: Error): void => {
    if (isDiskError(error)) log.error({ event: 'database.cannot_write', err: error }, 'the database cannot write')
    else log.warn({ event: 'database.connection_lost', err: error }, 'a database connection was lost')
  }

/** Repeats `open` while PostgreSQL responds that it has no connection left, is starting, or is read-only. */
async function retryWhileBusy<T>(open: () => Promise<T>, log: Logger, signal: AbortSignal | undefined): Promise<T> {
  const end = Date.now() + startWait.totalMs
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await open()
    } catch (error) {
      const { code = '', message } = error as Error & { code?: string }
      if (!/^(53300|57P03|25006)$/.test(code) || Date.now() > end) throw error
      if (isFirst) {
        log.warn(
          { event: 'database.start_waits', reason: message },
          `the database cannot be used yet (${message}); trying again for ${startWait.totalMs / 1000} seconds`,
        )
      }
      await sleep(startWait.everyMs, undefined, { signal })
    }
  }
}

/** The pooler and the direct connection must lead to the same database, or changes would go unnoticed. */
async function requireSameDatabase(db: Database): Promise<void> {
  const identify = `select extract(epoch from pg_postmaster_start_time()) || ' ' || oid as id from pg_database where datname = current_database()`
  const session = await db.session()
  try {
    const [pooled, [direct]] = await Promise.all([
      db.first<{ id: string }>(identify),
      session.rows<{ id: string }>(identify),
    ])
    if (pooled?.id !== direct?.id) {
      throw new StartupError(
        'DATABASE_URL and PARLEY_DATABASE_DIRECT_URL lead to different databases. Correct one of them.',
      )
    }
  } finally {
    await session.close()
  }
}

/** Also true if the directory cannot be read: opening it then reports the reason. */
export function hasEmbedded(dataDir: string): boolean {
  try {
    statSync(join(dataDir, 'postgres'))
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

/**
 * Turns problems of the database or its configuration into one line for the operator. Other errors stay as they are.
 */
function explainError(
  error: unknown,
  embeddedIn: string | null,
  { databaseDirectUrl, databasePool = poolSize.default }: StoreLocation,
): unknown {
  const cause = error instanceof FailedMigration ? error.cause : (error as Error & { code?: string })
  if (embeddedIn !== null)
    return isUnavailable(cause) || cause.code === '53100' ? toStartupError(cause, embeddedIn) : error
  // The URL may contain a password, so the messages do not repeat it.
  const setting = databaseDirectUrl ? 'DATABASE_URL or PARLEY_DATABASE_DIRECT_URL' : 'DATABASE_URL'
  const { code = '', message } = cause
  if (code === '25006') {
    return new StartupError(`The database in ${setting} is read-only. If it is a standby, use the primary server.`)
  }
  if (code === '53300') {
    return new StartupError(
      `The database in ${setting} has no connection left (${message}). Raise max_connections of PostgreSQL, or lower PARLEY_DATABASE_POOL (${databasePool}) of every process.`,
    )
  }
  if (isUnavailable(cause)) {
    return new StartupError(
      `Cannot connect to the database in ${setting} (${message.split('\n')[0] || code}). Check that it is running and that host and port are correct.`,
    )
  }
  if (/^(28...|3D000)$/.test(code)) {
    return new StartupError(
      `The database in ${setting} rejected the connection: ${message}. Check the user, the password and the database name.`,
    )
  }
  if (code === '42501') {
    return new StartupError(
      `The user in ${setting} is not allowed to create tables: ${message}. Make it the owner of the database.`,
    )
  }
  return error
}

/** The error did not come from PostgreSQL, or PostgreSQL says that it is stopping, starting or out of connections. */
function isUnavailable(error: Error & { code?: string }): boolean {
  if (error instanceof pg.DatabaseError) return /^(57P0.|53300)$/.test(error.code ?? '')
  if (error instanceof StartupError) return false
  return error.code !== undefined || /timeout|terminated|\bSSL\b|certificate/i.test(error.message)
}
