import { createServer } from 'node:net'
import { expect, inject, onTestFinished, test } from 'vitest'
import { asAdmin, newDatabase, newEmptyDatabase } from '../../testing/database.ts'
import { urlOf } from '../../testing/service.ts'
import { newUuid } from '../lib/ids.ts'
import { StartupError } from '../lib/refuse.ts'
import { newLogger } from '../telemetry/logger.ts'
import { listenForChanges } from './listen-for-changes.ts'
import { migrate, programVersion, readMigrations } from './migrate/migrate.ts'
import { logMigrations, openStore } from './store.ts'

const open = (databaseUrl: string) =>
  openStore({ databaseUrl, dataDir: '/nowhere' }, { purpose: 'service', schema: 'migrate', log: newLogger('silent') })

async function startupErrorOf(databaseUrl: string): Promise<string> {
  const error: unknown = await open(databaseUrl).then(
    (store) => store.close(),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(StartupError)
  const { message } = error as StartupError
  expect(message).not.toContain('\n')
  expect(message).not.toContain('pass-word')
  return message
}

test('a database in DATABASE_URL works with a role that has no special privileges', async () => {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  const first = await open(urlOf(connection))
  const second = await open(urlOf(connection))
  onTestFinished(async () => void (await Promise.all([first.close(), second.close()])))
  expect(await first.db.first('select rolsuper as super from pg_roles where rolname = current_user')).toEqual({
    super: false,
  })
})

test('an unreachable database is explained in one line', async () => {
  expect(await startupErrorOf('postgresql://someone:pass-word@127.0.0.1:1/db')).toBe(
    'Cannot connect to the database in DATABASE_URL (connect ECONNREFUSED 127.0.0.1:1). Check that it is running and that host and port are correct.',
  )
  expect(await startupErrorOf('postgresql://someone:pass-word@nowhere.invalid/db')).toMatch(
    /^Cannot connect to the database in DATABASE_URL \(getaddrinfo/,
  )
  expect(await startupErrorOf('postgresql://someone:pass-word@/db?host=/nowhere')).toMatch(
    /^Cannot connect to the database in DATABASE_URL \(connect ENOENT/,
  )
})

test('a server that is not PostgreSQL is explained in one line', async () => {
  const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  expect(await startupErrorOf(`postgresql://someone:pass-word@127.0.0.1:${port}/db`)).toMatch(
    /^Cannot connect to the database in DATABASE_URL/,
  )
})

test('a start that is stopped does not wait for a database that does not respond', async () => {
  const stop = new AbortController()
  const silent = createServer(() => stop.abort())
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void silent.close())
  const { port } = silent.address() as { port: number }
  const location = { databaseUrl: `postgresql://someone@127.0.0.1:${port}/db`, dataDir: '/nowhere' }
  const log = newLogger('silent')
  const opening = openStore(location, { purpose: 'service', schema: 'migrate', log, signal: stop.signal })
  await expect(opening).rejects.toThrow(/abort/i)
})

test('a service says in one line that it migrates the database, and nothing if it is up to date', async () => {
  const { connection, drop } = await newEmptyDatabase()
  onTestFinished(drop)
  const last = programVersion()
  const logged: string[] = []
  const log = newLogger('info', { write: (line) => void logged.push(line) })
  const location = { databaseUrl: urlOf(connection), dataDir: '/nowhere' }
  // The first start creates the database.
  for (let start = 0; start < 2; start++) {
    await (await openStore(location, { purpose: 'service', schema: 'migrate', log })).close()
  }
  const next = [1, 2].map((n) => ({ version: last + n, name: `next_${n}.sql`, text: 'select 1' }))
  await migrate(connection, [...readMigrations(), ...next], logMigrations(log))
  const message = `migrating the database from version ${last} to ${last + 2}`
  expect(logged.map((line) => JSON.parse(line)).filter(({ event }) => event.startsWith('migration.'))).toMatchObject([
    { event: 'migration.started', from: last, to: last + 2, migrations: 2, msg: message },
  ])
})

test('a rejected connection is explained in one line, without the password', async () => {
  const { host, port, password } = inject('postgres')
  const at = `?host=${encodeURIComponent(host)}&port=${port}`
  expect(await startupErrorOf(`postgresql://parley:pass-word@/parley${at}`)).toBe(
    'The database in DATABASE_URL rejected the connection: password authentication failed for user "parley". Check the user, the password and the database name.',
  )
  expect(await startupErrorOf(`postgresql://parley:${password}@/no_such${at}`)).toBe(
    'The database in DATABASE_URL rejected the connection: database "no_such" does not exist. Check the user, the password and the database name.',
  )
})

test('a role that may not create tables is explained in one line', async () => {
  const { host, port } = inject('postgres')
  const name = `guest_${newUuid().replaceAll('-', '')}`
  await asAdmin(`create role ${name} login password 'pass-word'`)
  await asAdmin(`create database ${name}`)
  onTestFinished(async () => {
    await asAdmin(`drop database ${name} with (force)`)
    await asAdmin(`drop role ${name}`)
  })
  const url = `postgresql://${name}:pass-word@/${name}?host=${encodeURIComponent(host)}&port=${port}`
  expect(await startupErrorOf(url)).toBe(
    'The user in DATABASE_URL is not allowed to create tables: permission denied for schema public. Make it the owner of the database.',
  )
})

/** A database of a role that may have only this many connections, and its URL. */
async function newLimited(connections: number) {
  const { host, port } = inject('postgres')
  const name = `limited_${newUuid().replaceAll('-', '')}`
  await asAdmin(`create role ${name} login password 'pass-word' connection limit ${connections}`)
  await asAdmin(`create database ${name} owner ${name}`)
  onTestFinished(async () => {
    await asAdmin(`drop database ${name} with (force)`)
    await asAdmin(`drop role ${name}`)
  })
  const url = `postgresql://${name}:pass-word@/${name}?host=${encodeURIComponent(host)}&port=${port}`
  return { url, allow: (count: number) => asAdmin(`alter role ${name} connection limit ${count}`) }
}

function collectLog() {
  const lines: { event: string; msg: string }[] = []
  return { lines, log: newLogger('info', { write: (line) => void lines.push(JSON.parse(line)) }) }
}

test('a command that gets no connection ends with one line that names the settings', async () => {
  const { url } = await newLimited(0)
  const location = { databaseUrl: url, dataDir: '/nowhere' }
  const { lines, log } = collectLog()
  const opening = openStore(location, { purpose: 'visitor', schema: 'migrate', log })
  await expect(opening).rejects.toThrow(
    /^The database in DATABASE_URL has no connection left \(too many connections .*\)\. Raise max_connections of PostgreSQL, or lower PARLEY_DATABASE_POOL \(13\) of every process\.$/,
  )
  expect(lines).toEqual([])
})

test('a service that gets no connection says so once and waits for one', async () => {
  const { url, allow } = await newLimited(0)
  const { lines, log } = collectLog()
  const opening = openStore({ databaseUrl: url, dataDir: '/nowhere' }, { purpose: 'service', schema: 'migrate', log })
  await expect.poll(() => lines.map(({ event }) => event)).toEqual(['database.start_waits'])
  await allow(20)
  const store = await opening
  await store.close()
  expect(lines).toHaveLength(1)
})

test('a service says in one line that PostgreSQL allows too few connections for all processes', async () => {
  const { url } = await newLimited(20)
  const { lines, log } = collectLog()
  const start = async (databasePool: number) => {
    const location = { databaseUrl: url, dataDir: '/nowhere', databasePool }
    const store = await openStore(location, { purpose: 'service', schema: 'migrate', log })
    const listener = listenForChanges(store.db, log, [])
    onTestFinished(async () => {
      await listener.stop()
      await store.close()
    })
    await listener.ready
  }
  await start(10)
  await start(10)
  expect(lines).toEqual([])
  await start(10)
  expect(lines.map(({ event, msg }) => [event, msg])).toEqual([
    [
      'database.few_connections',
      'PostgreSQL allows 20 connections, but 3 Parley processes with PARLEY_DATABASE_POOL=10 may open 30. Raise max_connections, or lower PARLEY_DATABASE_POOL.',
    ],
  ])
})

test('a process never opens more connections than PARLEY_DATABASE_POOL', async () => {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  const location = { databaseUrl: urlOf(connection), dataDir: '/nowhere', databasePool: 7 }
  const { db, close } = await openStore(location, { purpose: 'service', schema: 'require', log: newLogger('silent') })
  onTestFinished(close)
  const sleeping = Array.from({ length: 20 }, (_, index) =>
    (index % 2 ? db : db.within(newUuid())).rows('select pg_sleep(0.2), pg_backend_pid() as pid'),
  )
  const pids = (await Promise.all(sleeping)).flat().map((row) => (row as { pid: number }).pid)
  expect(new Set(pids).size).toBe(4)
})
