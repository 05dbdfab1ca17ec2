import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Connection } from '@parley/server/db/db'
import { migrate, programVersion, readMigrations } from '@parley/server/db/migrate/migrate'
import type { Finding } from '@parley/server/domain/health/finding'
import { expect, onTestFinished, test } from 'vitest'
import { newDatabase, newEmptyDatabase } from '../../server/testing/database.ts'
import { query } from '../../server/testing/filled-database.ts'
import { urlOf } from '../../server/testing/service.ts'
import { tempFolder } from '../../server/testing/temp-folder.ts'
import { runParley } from '../testing/run-parley.ts'

const latest = programVersion()

const commands = [
  ['workspace', 'list'],
  ['workspace', 'create', '--name', 'Shop'],
  ['key', 'list'],
  ['user', 'list'],
  ['price', 'list'],
  ['webhook', 'list'],
  ['delivery', 'list'],
  ['app', 'list'],
  ['connection', 'list'],
]

const run = (connection: Connection, ...words: string[]) =>
  runParley(words, { DATABASE_URL: urlOf(connection), PARLEY_SECRET_KEYS: `k:${'A'.repeat(43)}=`, PORT: '0' })

async function emptyDatabase(): Promise<Connection> {
  const { connection, drop } = await newEmptyDatabase()
  onTestFinished(drop)
  return connection
}

async function olderDatabase(): Promise<Connection> {
  const connection = await emptyDatabase()
  await migrate(connection)
  await query(
    connection,
    `delete from migrations where version < ${latest}; update migrations set version = version - 1`,
  )
  return connection
}

const versionOf = async (connection: Connection) =>
  (await query<{ version: number }>(connection, 'select max(version) as version from migrations'))[0]?.version

test('commands on a database of an older version fail with one line and do not migrate it', async () => {
  const connection = await olderDatabase()
  for (const words of commands) {
    expect(await run(connection, ...words), words.join(' ')).toEqual({
      code: 1,
      out: '',
      err: `The database has schema version ${latest - 1}, but this version of Parley needs ${latest}. Run "./parley migrate", or start the new version, which migrates the database. Processes of the last release keep working.\n`,
    })
  }
  expect(await versionOf(connection)).toBe(latest - 1)
})

test('commands on a database that needs a newer version fail with the same line as "migrate"', async () => {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  await query(
    connection,
    `insert into migrations (version, name, oldest) values (${latest + 1}, 'newer.sql', ${latest + 1})`,
  )
  const expected = {
    code: 1,
    out: '',
    err: `The database has schema version ${latest + 1}, which needs a Parley of version ${latest + 1} or later, but this is version ${latest}. Start the newer version, or restore a backup from before the upgrade.\n`,
  }
  for (const words of [...commands, ['migrate']])
    expect(await run(connection, ...words), words.join(' ')).toEqual(expected)
})

test('commands on an empty database fail with one line and leave it empty', async () => {
  const connection = await emptyDatabase()
  for (const words of commands) {
    expect(await run(connection, ...words), words.join(' ')).toEqual({
      code: 1,
      out: '',
      err: 'The database is empty. Run "./parley start" or "./parley migrate" first.\n',
    })
  }
  expect(await query(connection, "select to_regclass('migrations')::text as found")).toEqual([{ found: null }])
})

test('"migrate" prints the applied migrations and the version, and commands work afterwards', async () => {
  const connection = await emptyDatabase()
  const applied = readMigrations().map(({ name }) => `Applied ${name}.\n`)
  expect(await run(connection, 'migrate')).toEqual({
    code: 0,
    out: `${applied.join('')}The database is now at version ${latest}.\n`,
    err: '',
  })
  expect(await run(connection, 'migrate')).toEqual({
    code: 0,
    out: `The database is up to date, at version ${latest}.\n`,
    err: '',
  })
  expect(JSON.parse((await run(connection, 'migrate', '--json')).out)).toEqual({ applied: [], version: latest })
  expect(await run(connection, 'workspace', 'list')).toMatchObject({ code: 0, err: '' })
})

test('"doctor" reports an older and an empty database as findings and does not migrate them', async () => {
  const older = await olderDatabase()
  const { code, out, err } = await run(older, 'doctor', '--offline', '--json')
  expect({ code, err }).toEqual({ code: 1, err: '' })
  const checks = (JSON.parse(out) as { checks: Finding[] }).checks
  expect(checks.find(({ check }) => check === 'migrations')).toMatchObject({
    verdict: 'problem',
    message: `The database is at version ${latest - 1}, but this version of Parley needs ${latest}.`,
    details: [readMigrations().at(-1)?.name],
  })
  expect(await versionOf(older)).toBe(latest - 1)

  const empty = await emptyDatabase()
  const report = await run(empty, 'doctor', '--offline')
  expect(report).toMatchObject({ code: 1, err: '' })
  expect(report.out).toMatch(/^problem {2}migrations {8}The database is empty\.$/m)
  expect(report.out).not.toContain('does not exist')
})

test('without a data folder, commands fail with one line and create nothing; "migrate" creates the database', async () => {
  const dataDir = join(tempFolder(), 'data')
  const env = { PARLEY_DATA_DIR: dataDir }
  const expected = {
    code: 1,
    out: '',
    err: `No database found in ${dataDir}. Run "./parley start" or "./parley migrate" first.\n`,
  }
  expect(await runParley(['workspace', 'list'], env)).toMatchObject(expected)
  expect(
    await runParley(['app', 'create', '--name', 'A', '--app-secret', 's', '--verify-token', 'v'], env),
  ).toMatchObject(expected)
  expect(existsSync(dataDir)).toBe(false)

  const migrated = await runParley(['migrate'], env)
  expect(migrated.code).toBe(0)
  expect(migrated.out).toMatch(new RegExp(`\\nThe database is now at version ${latest}\\.\\n$`))
  expect(await runParley(['workspace', 'list', '--json'], env)).toMatchObject({ code: 0, err: '' })
})
