import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { StartupError } from '../lib/refuse.ts'
import type { Connection, Db } from './db.ts'
import { migrationSettings } from './limits.ts'
import { connectClient, Servers } from './server-client.ts'

export interface Migration {
  version: number
  name: string
  text: string
}

const lock = 7_215_400

const migrationsDir = join(import.meta.dirname, '..', '..', 'migrations')

/** Reads the files named `0001_name.sql`, in order. A gap in the numbers is an error. */
export function readMigrations(folder = migrationsDir): Migration[] {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
  return files.map((name, index) => {
    const version = Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1])
    if (version !== index + 1) throw new Error(`migrations/${name} should have number ${index + 1}`)
    return { version, name, text: readFileSync(join(folder, name), 'utf8') }
  })
}

/**
 * Migrates the database to the schema version of this program, and returns the names of the migrations it applied.
 * Several processes may call it at the same time: one applies the migrations, the others wait and have nothing left to
 * do. Each file is one transaction. There are no down migrations.
 */
export async function migrate(connection: Connection, migrations = readMigrations()): Promise<string[]> {
  const client = await connectClient(new Servers(connection.direct ?? connection), migrationSettings)
  try {
    await requirePostgresVersion(client)
    await client.query('select pg_advisory_lock($1)', [lock])
    await client.query(
      'create table if not exists migrations (version int primary key, name text not null, applied_at timestamptz not null default now())',
    )
    const { rows } = await client.query<{ version: number }>(versionText)
    const current = rows[0]?.version ?? 0
    requireNotNewer(current, latestOf(migrations))
    const missing = migrations.filter(({ version }) => version > current)
    for (const migration of missing) await apply(client, migration)
    return missing.map(({ name }) => name)
  } finally {
    await client.end()
  }
}

const versionText = 'select coalesce(max(version), 0) as version from migrations'

const latestOf = (migrations: readonly Migration[]): number => migrations.at(-1)?.version ?? 0

/** The number of the last applied migration; 0 if none was applied. */
export async function readVersion(db: Db): Promise<number> {
  const found = await db.first<{ exists: boolean }>("select to_regclass('migrations') is not null as exists")
  return found?.exists ? ((await db.first<{ version: number }>(versionText))?.version ?? 0) : 0
}

/** Throws if the schema version is not the one of this program. Changes nothing. */
export async function requireVersion(db: Db, migrations = readMigrations()): Promise<void> {
  const current = await readVersion(db)
  const needed = latestOf(migrations)
  requireNotNewer(current, needed)
  if (current === 0)
    throw new StartupError(`The database is empty. Run "npx parley start" or "npx parley migrate" first.`)
  if (current < needed) {
    throw new StartupError(
      `The database has schema version ${current}, but this version of Parley needs ${needed}. Stop the service and run "npx parley migrate", or start the new version, which migrates the database.`,
    )
  }
}

function requireNotNewer(current: number, known: number): void {
  if (current <= known) return
  throw new StartupError(
    `The database has schema version ${current}, but this version of Parley supports up to ${known}. A newer Parley has migrated it. Start the newer version, or restore a backup from before the upgrade.`,
  )
}

/** The migration was rolled back. The migrations before it stay applied. */
export class FailedMigration extends StartupError {
  override readonly cause: Error & { code?: string }

  constructor(migration: string, cause: Error) {
    super(`Migration ${migration} failed and was rolled back: ${cause.message}.`)
    this.cause = cause
  }
}

async function apply(client: pg.Client, { version, name, text }: Migration): Promise<void> {
  await client.query('begin')
  try {
    // Row-level security applies to the owner too. Without this setting a migration sees empty tables, and its updates
    // change nothing. `set local` ends with the transaction, so a connection pooler can neither lose nor leak it.
    await client.query("set local parley.workspace = 'all'")
    await client.query(text)
    await client.query('insert into migrations (version, name) values ($1, $2)', [version, name])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw new FailedMigration(name, error as Error)
  }
}

async function requirePostgresVersion(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number }>(
    "select current_setting('server_version_num')::int as version",
  )
  const version = Math.floor((rows[0]?.version ?? 0) / 10_000)
  if (version < 15)
    throw new StartupError(`The database server is PostgreSQL ${version}, but Parley needs PostgreSQL 15 or later.`)
}
