import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { StartupError } from '../../lib/refuse.ts'
import type { Connection } from '../connect/connection.ts'
import { migrationSettings } from '../connect/limits.ts'
import { connectClient, Servers } from '../connect/server-client.ts'
import { listenerName } from '../notices/change-notices.ts'
import { noSchema, noticeMs, type Schema, schemaText, whyUnusable } from '../schema-version.ts'
import { type Migration, neededBy, oldestAfter } from './migration-steps.ts'
import { type MigrationOptions, progressTable, runSteps } from './run-steps.ts'

export type { Migration }

const lock = 7_215_400

const lockEveryMs = 200

const migrationsDir = join(import.meta.dirname, '..', '..', '..', 'migrations')

/** The last commit that can migrate a database to the first migration of this program. */
const commitBefore = '8e8afe169ec5'

/**
 * Reads the migrations in order: files named `0060_name.sql`, and folders named `0059_name`, whose files are one migration. A
 * gap in the numbers is an error.
 */
export function readMigrations(folder = migrationsDir): Migration[] {
  const names = readdirSync(folder)
    .filter((name) => /^\d{4}_/.test(name))
    .sort()
  const first = Number(names[0]?.slice(0, 4))
  return names.map((name, index) => {
    const version = Number(/^(\d{4})_[a-z0-9_]+(\.sql)?$/.exec(name)?.[1])
    if (version !== first + index) throw new Error(`migrations/${name} should have number ${first + index}`)
    return { version, name, text: readMigration(join(folder, name)) }
  })
}

function readMigration(path: string): string {
  if (path.endsWith('.sql')) return readFileSync(path, 'utf8')
  const files = readdirSync(path).sort()
  return files.map((name) => readFileSync(join(path, name), 'utf8')).join('\n')
}

/** The schema version of this program. */
export const programVersion = (migrations = readMigrations()): number => migrations.at(-1)?.version ?? 0

/**
 * Migrates the database to the schema version of this program, and returns the names of the migrations it applied.
 * Several processes may call it at the same time: one applies the migrations, the others wait and have nothing left to
 * do. Does nothing if a newer program has migrated the database, and fails if this one cannot use that schema, or if the
 * database is older than the first migration. There are no down migrations.
 */
export async function migrate(
  connection: Connection,
  migrations = readMigrations(),
  options: MigrationOptions = {},
): Promise<string[]> {
  // The lock and every step are on this one connection: a process that has lost the lock cannot continue.
  const client = await connectClient(new Servers(connection.direct ?? connection), migrationSettings, options.signal)
  const program = programVersion(migrations)
  const applied: string[] = []
  // A statement may take hours. PostgreSQL completes it, undoes it if it is in a transaction, and releases the lock.
  const leave = () => client.destroy(new Error('the migration was stopped'))
  options.signal?.addEventListener('abort', leave)
  try {
    await requirePostgresVersion(client)
    const found = await readSchema(client)
    requireFirst(found, migrations)
    // A process that has nothing to apply does not wait for one of a newer version that migrates.
    if (isMigrated(found, program)) return []
    await takeLock(client, options)
    await createTables(client)
    for (let isFirst = true; ; isFirst = false) {
      const schema = await readSchema(client)
      const left = migrations.filter(({ version }) => version > schema.version)
      const [next] = left
      if (!next || isMigrated(schema, program)) return applied
      if (isFirst) options.onStart?.(schema.version, program, left.length)
      await apply(client, next, schema, options)
      applied.push(next.name)
    }
  } catch (error) {
    options.signal?.throwIfAborted()
    throw error
  } finally {
    options.signal?.removeEventListener('abort', leave)
    await client.end()
  }
}

function requireFirst({ version }: Schema, [first]: readonly Migration[]): void {
  if (version > 0 && first && version < first.version) {
    throw new StartupError(
      `The database has schema version ${version}, but this version of Parley migrates databases from ${first.version} on. Start commit ${commitBefore} of Parley first, then this version.`,
    )
  }
}

/** Throws if this program is too old for the schema. */
function isMigrated(schema: Schema, program: number): boolean {
  if (schema.version < program) return false
  const reason = whyUnusable(schema, program)
  if (reason !== null && schema.version > 0) throw new StartupError(reason)
  return true
}

/**
 * Tries again and again instead of waiting in PostgreSQL: a statement that waits keeps its snapshot, and building an
 * index concurrently waits for all older snapshots.
 */
async function takeLock(client: pg.Client, { onWait, signal }: MigrationOptions): Promise<void> {
  for (let tries = 1; ; tries++) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [lock])
    if (rows[0]?.taken) return
    if (tries === 10) onWait?.('Another process migrates the database; waiting until it has finished')
    await sleep(lockEveryMs, undefined, { signal })
  }
}

async function createTables(client: pg.Client): Promise<void> {
  await client.query(`create table if not exists migrations (
    version int primary key, name text not null, applied_at timestamptz not null default now(), oldest int not null)`)
  await client.query(progressTable)
}

async function readSchema(client: pg.Client): Promise<Schema> {
  const { rows } = await client.query<{ exists: boolean }>("select to_regclass('migrations') is not null as exists")
  if (!rows[0]?.exists) return noSchema
  return (await client.query<Schema>(schemaText)).rows[0] ?? noSchema
}

async function apply(client: pg.Client, next: Migration, schema: Schema, options: MigrationOptions): Promise<void> {
  const oldest = oldestAfter(next, schema.oldest)
  if (neededBy(next) !== null && oldest > schema.oldest) await announce(client, schema.version, oldest)
  const finish = async () => {
    const values = [next.version, next.name, oldest]
    await client.query('insert into migrations (version, name, oldest) values ($1, $2, $3)', values)
  }
  await runSteps(client, next, finish, options)
}

/** Tells running processes that are too old for the next migration, and waits until they have stopped their work. */
async function announce(client: pg.Client, version: number, oldest: number): Promise<void> {
  await client.query('update migrations set oldest = $2 where version = $1', [version, oldest])
  const { rows } = await client.query(
    'select 1 from pg_stat_activity where application_name = $1 and datname = current_database() limit 1',
    [listenerName],
  )
  if (rows.length > 0) await sleep(noticeMs)
}

async function requirePostgresVersion(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number }>(
    "select current_setting('server_version_num')::int as version",
  )
  const version = Math.floor((rows[0]?.version ?? 0) / 10_000)
  if (version < 15)
    throw new StartupError(`The database server is PostgreSQL ${version}, but Parley needs PostgreSQL 15 or later.`)
}
