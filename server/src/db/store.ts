import type { Config } from '../config.ts'
import type { Logger } from '../lib/logger.ts'
import { Unfit } from '../lib/refuse.ts'
import { type Connection, type Database, openDatabase } from './db.ts'
import { openEmbedded } from './embedded/embedded.ts'
import { migrate } from './migrate.ts'

export interface Store {
  db: Database
  connection: Connection
  /** The migrations that this opening applied. */
  applied: string[]
  close(): Promise<void>
}

export interface StoreOptions {
  purpose: 'service' | 'visitor'
  log: Logger
  say?: (line: string) => void
}

/** The database of this installation, embedded or elsewhere, brought up to this program. */
export async function openStore(
  config: Pick<Config, 'databaseUrl' | 'dataDir'>,
  { purpose, log, say = () => {} }: StoreOptions,
): Promise<Store> {
  const embedded = config.databaseUrl === null ? await openEmbedded({ dataDir: config.dataDir, purpose, say }) : null
  const connection: Connection = embedded?.connection ?? { connectionString: config.databaseUrl as string }
  try {
    const applied = await migrate({ ...connection, connectionTimeoutMillis: 10_000 })
    const db = openDatabase(connection, (error) => log.warn({ err: error }, 'a database connection was lost'))
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
    throw embedded ? error : explain(error)
  }
}

/** What a person who set DATABASE_URL needs to know; the address may hold a password and is not repeated. */
function explain(error: unknown): unknown {
  if (error instanceof Unfit) return error
  const { code = '', message } = error as { code?: string; message: string }
  if (/^(ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ETIMEDOUT|ENOENT)$/.test(code) || /timeout/.test(message)) {
    return new Unfit(`The database that DATABASE_URL names cannot be reached (${message || code}).`)
  }
  if (/^(28...|3D000)$/.test(code)) return new Unfit(`The database that DATABASE_URL names refuses us: ${message}.`)
  return error
}
