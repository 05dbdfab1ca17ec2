import { statSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Logger } from '../lib/logger.ts'
import { StartupError } from '../lib/refuse.ts'
import { type Connection, type Database, openDatabase } from './db.ts'
import { openEmbedded } from './embedded/embedded.ts'
import { explain as explainEmbedded } from './embedded/faults.ts'
import { FailedMigration, migrate, requireVersion } from './migrate.ts'

export interface Store {
  db: Database
  connection: Connection
  /** The migrations that this opening applied. */
  applied: string[]
  close(): Promise<void>
}

export interface StorePlace {
  /** Null for the embedded one under `dataDir`. */
  databaseUrl: string | null
  dataDir: string
}

export interface StoreOptions {
  purpose: 'service' | 'visitor'
  log: Logger
  say?: (line: string) => void
  /**
   * `migrate`: brings the database to this program's version, and makes it where there is none. `require`: refuses any
   * other version. `ignore`: opens whatever version it is. Only the first changes anything.
   */
  schema: 'migrate' | 'require' | 'ignore'
  /** Gives up opening. */
  signal?: AbortSignal
}

/** The database of this installation, embedded or elsewhere. */
export async function openStore(
  config: StorePlace,
  { purpose, log, say = () => {}, schema, signal }: StoreOptions,
): Promise<Store> {
  const { dataDir } = config
  if (config.databaseUrl === null && schema !== 'migrate' && !hasEmbedded(dataDir)) {
    throw new StartupError(`There is no database in ${dataDir} yet. Run "parley start" or "parley migrate" first.`)
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
    throw signal?.aborted ? error : explain(error, embedded ? dataDir : null)
  }
}

/** Also true for a folder that cannot be looked into: opening it says what is wrong with it. */
export function hasEmbedded(dataDir: string): boolean {
  try {
    statSync(join(dataDir, 'postgres'))
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

/** What went wrong on the way, as one line for a person where it is not a bug of ours. */
function explain(error: unknown, embeddedIn: string | null): unknown {
  const cause = error instanceof FailedMigration ? error.cause : (error as Error & { code?: string })
  if (embeddedIn !== null) return isAway(cause) || cause.code === '53100' ? explainEmbedded(cause, embeddedIn) : error
  // The address may hold a password and is not repeated.
  const named = 'The database that DATABASE_URL names'
  const { code = '', message } = cause
  if (isAway(cause)) return new StartupError(`${named} cannot be reached (${message.split('\n')[0] || code}).`)
  if (/^(28...|3D000)$/.test(code)) return new StartupError(`${named} refuses us: ${message}.`)
  if (code === '42501') return new StartupError(`${named} does not let its user make tables: ${message}.`)
  if (code === '25006') return new StartupError(`${named} is read-only; it may be a standby.`)
  return error
}

/** Not an answer of PostgreSQL's, or one that it cannot answer just now. */
function isAway(error: Error & { code?: string }): boolean {
  if (error instanceof pg.DatabaseError) return /^(57P0.|53300)$/.test(error.code ?? '')
  if (error instanceof StartupError) return false
  return error.code !== undefined || /timeout|terminated|\bSSL\b|certificate/i.test(error.message)
}
