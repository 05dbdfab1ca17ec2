import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { prepare } from '../../scripts/prepare.mjs'
import { openDatabase } from '../src/db/db.ts'
import type { Binaries } from '../src/db/embedded/binaries.ts'
import { openEmbedded } from '../src/db/embedded/embedded.ts'
import { migrate } from '../src/db/migrate/migrate.ts'
import { ensurePartitions } from '../src/db/partitions.ts'
import { type Clock, systemClock } from '../src/lib/clock.ts'
import { copyDataDir, newFolder, removeFolder } from './data-dir.ts'
import { FakeClock } from './fake-clock.ts'

export interface TestPostgres {
  host: string
  port: number
  password: string
}

declare module 'vitest' {
  interface ProvidedContext {
    postgres: TestPostgres
    /** A data directory with a migrated database, never started. Tests copy it: see `newDataDir`. */
    preparedDataDir: string
  }
}

/**
 * Databases that tests copy: one is migrated, one also has the partitions of the fake clock's first days, and one those of the days that
 * a service with the real time would create.
 */
export const templates = {
  migrated: 'parley_template',
  withDays: 'parley_template_days',
  forService: 'parley_template_service',
}

/** The installed PostgreSQL of this major version, where Debian's package has it. */
function installed(major: string): Binaries {
  const programs = `/usr/lib/postgresql/${major}/bin`
  if (!existsSync(programs)) {
    throw new Error(`PostgreSQL ${major} is not installed in ${programs}. Run "apt-get install postgresql-${major}".`)
  }
  return { initdb: join(programs, 'initdb'), postgres: join(programs, 'postgres'), major }
}

/**
 * Bundles the sources, prepares a data directory, and starts one PostgreSQL on a copy of it for all tests. `npm test -- postgres-15` sets
 * PARLEY_TEST_POSTGRES: then the tests use that version instead of the embedded one, on an empty data directory.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Child processes run the bundle.
  prepare(join(import.meta.dirname, '..', '..'), process.execPath)
  const major = process.env.PARLEY_TEST_POSTGRES
  const binaries = major ? installed(major) : undefined
  const folder = newFolder()
  const prepared = join(folder, 'prepared')
  const empty = await openEmbedded({ dataDir: prepared, purpose: 'visitor' })
  await migrate(empty.connection)
  await empty.close()
  const dataDir = join(folder, 'data')
  if (!binaries) copyDataDir(prepared, dataDir)
  // Durability is not needed in tests, and databases that live for seconds need no vacuum.
  const settings = {
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    autovacuum: 'off',
    max_connections: '300',
  }
  const embedded = await openEmbedded({ dataDir, purpose: 'visitor', settings, binaries })
  if (binaries) await migrate(embedded.connection)
  const admin = new pg.Client(embedded.admin)
  await admin.connect()
  // A stored password with fewer rounds makes a connection cheaper. PostgreSQL 15 does not have the setting.
  if (!binaries) {
    for (const { user, password } of [embedded.admin, embedded.connection]) {
      await admin.query(`set scram_iterations = 1; alter role ${user} password ${admin.escapeLiteral(password)}`)
    }
  }
  await admin.query(`create database ${templates.migrated} template parley owner parley`)
  const addDays = async (name: string, clock: Clock, ahead?: number) => {
    await admin.query(`create database ${name} template ${templates.migrated} owner parley`)
    const db = openDatabase({ ...embedded.connection, database: name }, () => {}, 1)
    await ensurePartitions(db, clock, ahead)
    await db.close()
  }
  // Three days ahead are enough for most tests. Each partition makes every connection slower.
  await addDays(templates.withDays, new FakeClock(), 3)
  await addDays(templates.forService, systemClock)
  await admin.end()
  const { host, port, password } = embedded.connection
  project.provide('postgres', { host, port, password })
  project.provide('preparedDataDir', prepared)
  return async () => {
    await embedded.close()
    removeFolder(folder)
  }
}
