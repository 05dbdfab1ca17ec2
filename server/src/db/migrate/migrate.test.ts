import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { newDatabase, newEmptyDatabase } from '../../../testing/database.ts'
import { tempFolder } from '../../../testing/temp-folder.ts'
import { StartupError } from '../../lib/refuse.ts'
import type { Connection } from '../db.ts'
import { type Migration, migrate, programVersion, readMigrations } from './migrate.ts'

async function emptyDatabase(): Promise<Connection> {
  const { connection, drop } = await newEmptyDatabase()
  onTestFinished(drop)
  return connection
}

async function rows(connection: Connection, text: string): Promise<unknown[]> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    return (await client.query({ text, rowMode: 'array' })).rows.flat()
  } finally {
    await client.end()
  }
}

async function open(connection: Connection): Promise<pg.Client> {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

const migration = (version: number, text: string): Migration => ({ version, name: `000${version}_test.sql`, text })

const applied = 'select version from migrations order by version'

test('four processes that migrate an empty database together apply each migration once', async () => {
  const connection = await emptyDatabase()
  const names = readMigrations().map(({ name }) => name)
  const results = await Promise.all(Array.from({ length: 4 }, () => migrate(connection)))
  expect(results.filter((each) => each.length > 0)).toEqual([names])
  expect(await rows(connection, 'select name from migrations order by version')).toEqual(names)
  expect(await migrate(connection)).toEqual([])
})

test('a failed migration is rolled back, and the ones before it stay applied', async () => {
  const connection = await emptyDatabase()
  const good = migration(1, 'create table one (id int)')
  const broken = migration(2, 'create table two (id int); insert into one values (1); select 1/0')
  const failed = migrate(connection, [good, broken])
  await expect(failed).rejects.toThrow(StartupError)
  await expect(failed).rejects.toThrow('Migration 0002_test.sql failed and was rolled back: division by zero.')
  expect(await rows(connection, applied)).toEqual([1])
  expect(await rows(connection, "select to_regclass('two'), (select count(*)::int from one)")).toEqual([null, 0])

  const fixed = migration(2, 'create table two (id int)')
  expect(await migrate(connection, [good, fixed])).toEqual(['0002_test.sql'])
  expect(await rows(connection, applied)).toEqual([1, 2])
})

test('a database of a newer version is left unchanged, and is rejected if this program is too old for it', async () => {
  const connection = await emptyDatabase()
  const one = [migration(24, 'create table one (id int)')]
  const two = [...one, migration(25, 'alter table one add column note text')]
  const three = [...two, migration(26, '-- contract: needs 25\nalter table one drop column id')]
  const oldest = 'select oldest from migrations order by version'
  await migrate(connection, two)
  expect(await migrate(connection, one)).toEqual([])
  await migrate(connection, three)
  expect(await migrate(connection, two)).toEqual([])
  await expect(migrate(connection, one)).rejects.toThrow(
    'The database has schema version 26, which needs a Parley of version 25 or later, but this is version 24. Start the newer version, or restore a backup from before the upgrade.',
  )
  expect(await rows(connection, applied)).toEqual([24, 25, 26])
  expect(await rows(connection, oldest)).toEqual([24, 25, 25])
})

test('a process with nothing to apply does not wait for a process that migrates', async () => {
  const connection = await emptyDatabase()
  await migrate(connection, [migration(1, 'select 1')])
  const other = await open(connection)
  await other.query('select pg_advisory_lock(7215400)')
  expect(await migrate(connection, [migration(1, 'select 1')])).toEqual([])
})

test('timeouts that are set for the role do not apply to migrations', async () => {
  const connection = await emptyDatabase()
  const withTimeouts = { ...connection, options: '-c statement_timeout=20ms -c lock_timeout=20ms' }
  expect(await migrate(withTimeouts, [migration(1, 'select pg_sleep(0.1)')])).toEqual(['0001_test.sql'])
})

test('a migration sees the rows of every workspace', async () => {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  await rows(
    connection,
    `with all_rows as materialized (select set_config('parley.workspace', 'all', false))
     insert into workspaces (id, name, created_at) select gen_random_uuid(), name, now()
     from all_rows, unnest(array['A', 'B']) as name`,
  )
  const counting = migration(programVersion() + 1, 'create table row_counts as select count(*)::int from workspaces')
  await migrate(connection, [...readMigrations(), counting])
  expect(await rows(connection, 'select * from row_counts')).toEqual([2])
})

test('migration files are read in order, and a gap is an error', () => {
  const folder = tempFolder()
  writeFileSync(join(folder, '0002_b.sql'), 'select 2')
  writeFileSync(join(folder, '0001_a.sql'), 'select 1')
  writeFileSync(join(folder, 'notes.txt'), '')
  expect(readMigrations(folder).map(({ version, text }) => [version, text])).toEqual([
    [1, 'select 1'],
    [2, 'select 2'],
  ])
  writeFileSync(join(folder, '0004_d.sql'), '')
  expect(() => readMigrations(folder)).toThrow('migrations/0004_d.sql should have number 3')
})

test('the files of a folder are one migration, and the first number is the oldest version that is migrated', async () => {
  const folder = tempFolder()
  mkdirSync(join(folder, '0007_base'))
  writeFileSync(join(folder, '0007_base', '2_keys.sql'), 'create table keys (id int references people)')
  writeFileSync(join(folder, '0007_base', '1_people.sql'), 'create table people (id int primary key);')
  writeFileSync(join(folder, '0008_next.sql'), 'select 1')
  const connection = await emptyDatabase()
  expect(await migrate(connection, readMigrations(folder))).toEqual(['0007_base', '0008_next.sql'])
  expect(await rows(connection, applied)).toEqual([7, 8])

  const older = await emptyDatabase()
  await migrate(older, [migration(6, 'select 1')])
  const refused = migrate(older, readMigrations(folder))
  await expect(refused).rejects.toThrow(StartupError)
  await expect(refused).rejects.toThrow(
    /^The database has schema version 6, but this version of Parley migrates databases from 7 on\. Start commit [0-9a-f]{8,40} of Parley first, then this version\.$/,
  )
  expect(await rows(older, applied)).toEqual([6])
})
