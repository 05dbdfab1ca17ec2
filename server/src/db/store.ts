import { statSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Logger } from '../lib/logger.ts'
import { StartupError } from '../lib/refuse.ts'
import { type Connection, type Database, openDatabase } from './db.ts'
import { openEmbedded } from './embedded/embedded.ts'
import { toStartupError } from './embedded/explain-error.ts'
import { FailedMigration, migrate, requireVersion } from './migrate.ts'

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
  dataDir: string
}

export interface StoreOptions {
  purpose: 'service' | 'visitor'
  log: Logger
  say?: (line: string) => void
  /**
   * `migrate`: creates the database if needed, and migrates it to the schema version of this program. `require`: fails
   * if the schema version differs. `ignore`: opens any version. Only `migrate` changes the database.
   */
  schema: 'migrate' | 'require' | 'ignore'
  /** Cancels opening. */
  signal?: AbortSignal
}

/** Opens the database of this installation: the embedded one, or the one in DATABASE_URL. */
export async function openStore(
  config: StoreLocation,
  { purpose, log, say = () => {}, schema, signal }: StoreOptions,
): Promise<Store> {
  const { dataDir } = config
  if (config.databaseUrl === null && schema !== 'migrate' && !hasEmbedded(dataDir)) {
    throw new StartupError(`No database found in ${dataDir}. Run "npx parley start" or "npx parley migrate" first.`)
  }
  const embedded =
    config.databaseUrl === null ? await openEmbedded({ dataDir, purpose, say, ...(signal ? { signal } : {}) }) : null
  const connection: Connection = embedded?.connection ?? { connectionString: config.databaseUrl as string }
  try {
    signal?.throwIfAborted()
    const applied = schema === 'migrate' ? await migrate({ ...connection, connectionTimeoutMillis: 10_000 }) : []
    const db = openDatabase(connection, (error) =>
      log.warn({ event: 'database.connection_lost', err: error }, 'a database connection was lost'),
    )
    try {
      if (schema === 'require') await requireVersion(db)
      else if (schema === 'ignore') await db.rows('select 1')
    } catch (error) {
      await db.close()
      throw error
    }
    return {
      db,
      connection,
      applied,
      async close() {
        await db.close()
        await embedded?.close()
      },
    }
  } catch (error) {
    await embedded?.close()
    throw signal?.aborted ? error : explainError(error, embedded ? dataDir : null)
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
function explainError(error: unknown, embeddedIn: string | null): unknown {
  const cause = error instanceof FailedMigration ? error.cause : (error as Error & { code?: string })
  if (embeddedIn !== null)
    return isUnavailable(cause) || cause.code === '53100' ? toStartupError(cause, embeddedIn) : error
  // DATABASE_URL may contain a password, so the messages do not repeat it.
  const { code = '', message } = cause
  if (isUnavailable(cause)) {
    return new StartupError(
      `Cannot connect to the database in DATABASE_URL (${message.split('\n')[0] || code}). Check that it is running and that host and port are correct.`,
    )
  }
  if (/^(28...|3D000)$/.test(code)) {
    return new StartupError(
      `The database in DATABASE_URL rejected the connection: ${message}. Check the user, the password and the database name.`,
    )
  }
  if (code === '42501') {
    return new StartupError(
      `The user in DATABASE_URL is not allowed to create tables: ${message}. Make it the owner of the database.`,
    )
  }
  if (code === '25006') {
    return new StartupError('The database in DATABASE_URL is read-only. If it is a standby, use the primary server.')
  }
  return error
}

/** The error did not come from PostgreSQL, or PostgreSQL says that it is stopping, starting or out of connections. */
function isUnavailable(error: Error & { code?: string }): boolean {
  if (error instanceof pg.DatabaseError) return /^(57P0.|53300)$/.test(error.code ?? '')
  if (error instanceof StartupError) return false
  return error.code !== undefined || /timeout|terminated|\bSSL\b|certificate/i.test(error.message)
}
