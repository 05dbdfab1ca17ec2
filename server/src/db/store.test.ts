import { createServer } from 'node:net'
import { expect, inject, onTestFinished, test } from 'vitest'
import { asAdmin, newDatabase } from '../../testing/database.ts'
import { urlOf } from '../../testing/service.ts'
import { newUuid } from '../lib/ids.ts'
import { newLogger } from '../lib/logger.ts'
import { StartupError } from '../lib/refuse.ts'
import { openStore } from './store.ts'

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
