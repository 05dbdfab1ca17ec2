import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { StartupError } from '../lib/refuse.ts'
import type { Connection, Db } from './db.ts'

export interface Migration {
  version: number
  name: string
  text: string
}

const lock = 7_215_400

const migrationsDir = join(import.meta.dirname, '..', '..', 'migrations')

/** Files named `0001_words.sql`, in order and without gaps. */
export function readMigrations(folder = migrationsDir): Migration[] {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
  return files.map((name, index) => {
    const version = Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1])
    if (version !== index + 1) throw new Error(`migrations/${name} should be number ${index + 1}`)
    return { version, name, text: readFileSync(join(folder, name), 'utf8') }
  })
}

/**
 * Brings the database up to this program. Any number of processes may do it at once: one works, the others wait and find
 * nothing left. Each file is one transaction; nothing is ever undone. Returns the names of those applied.
 */
export async function migrate(connection: Connection, migrations = readMigrations()): Promise<string[]> {
  const client = new pg.Client(connection)
  // A connection that is lost fails the statement under way; nobody else has to hear of it.
  client.on('error', () => {})
  await client.connect()
  try {
    await refuseOldServer(client)
    // Others' migrations may take as long as they take, and so may ours.
    await client.query('set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0')
    await client.query('select pg_advisory_lock($1)', [lock])
    await client.query(
      'create table if not exists migrations (version int primary key, name text not null, applied_at timestamptz not null default now())',
    )
    const { rows } = await client.query<{ version: number }>(versionText)
    const present = rows[0]?.version ?? 0
    refuseNewer(present, latestOf(migrations))
    const missing = migrations.filter(({ version }) => version > present)
    for (const migration of missing) await apply(client, migration)
    return missing.map(({ name }) => name)
  } finally {
    await client.end()
  }
}

const versionText = 'select coalesce(max(version), 0) as version from migrations'

const latestOf = (migrations: readonly Migration[]): number => migrations.at(-1)?.version ?? 0

/** The last migration that was applied; 0 for a database that none was applied to. */
export async function readVersion(db: Db): Promise<number> {
  const found = await db.first<{ exists: boolean }>("select to_regclass('migrations') is not null as exists")
  return found?.exists ? ((await db.first<{ version: number }>(versionText))?.version ?? 0) : 0
}

/** Refuses a database of any other version than this program's, and leaves it as it is. */
export async function requireVersion(db: Db, migrations = readMigrations()): Promise<void> {
  const present = await readVersion(db)
  const needed = latestOf(migrations)
  refuseNewer(present, needed)
  if (present === 0) throw new StartupError(`The database is empty. Run "parley start" or "parley migrate" first.`)
  if (present < needed) {
    throw new StartupError(
      `The database is at version ${present}, this program needs ${needed}. Stop the service and run "parley migrate", or start the new version, which migrates.`,
    )
  }
}

function refuseNewer(present: number, known: number): void {
  if (present <= known) return
  throw new StartupError(
    `The database is at version ${present}, this program knows up to ${known}: it was used by a newer Parley. Start that one, or restore a back-up from before.`,
  )
}

/** Nothing of it remains in the database; the ones before it do. */
export class FailedMigration extends StartupError {
  override readonly cause: Error & { code?: string }

  constructor(migration: string, cause: Error) {
    super(`The migration ${migration} failed, and none of it was kept: ${cause.message}.`)
    this.cause = cause
  }
}

async function apply(client: pg.Client, { version, name, text }: Migration): Promise<void> {
  await client.query('begin')
  try {
    // Row-level security applies to the owner too: without this a migration sees empty tables, and its updates change nothing.
    // Local to the transaction, so a connection pooler cannot lose it, and cannot pass it on to another client.
    await client.query("set local parley.workspace = 'all'")
    await client.query(text)
    await client.query('insert into migrations (version, name) values ($1, $2)', [version, name])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw new FailedMigration(name, error as Error)
  }
}

async function refuseOldServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number }>(
    "select current_setting('server_version_num')::int as version",
  )
  const version = Math.floor((rows[0]?.version ?? 0) / 10_000)
  if (version < 15) throw new StartupError(`The database is PostgreSQL ${version}; Parley needs 15 or later.`)
}
