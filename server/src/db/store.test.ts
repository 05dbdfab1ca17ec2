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

async function refusalOf(databaseUrl: string): Promise<string> {
  const error: unknown = await open(databaseUrl).then(
    (store) => store.close(),
    (fault: unknown) => fault,
  )
  expect(error).toBeInstanceOf(StartupError)
  const { message } = error as StartupError
  expect(message).not.toContain('\n')
  expect(message).not.toContain('pass-word')
  return message
}

test('a database elsewhere is used by the same code, with a role that has no special rights', async () => {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  const first = await open(urlOf(connection))
  const second = await open(urlOf(connection))
  onTestFinished(async () => void (await Promise.all([first.close(), second.close()])))
  expect(await first.db.first('select rolsuper as super from pg_roles where rolname = current_user')).toEqual({
    super: false,
  })
})

test('a database that cannot be reached is told in one line', async () => {
  expect(await refusalOf('postgresql://someone:pass-word@127.0.0.1:1/db')).toBe(
    'The database that DATABASE_URL names cannot be reached (connect ECONNREFUSED 127.0.0.1:1).',
  )
  expect(await refusalOf('postgresql://someone:pass-word@nowhere.invalid/db')).toMatch(
    /cannot be reached \(getaddrinfo/,
  )
  expect(await refusalOf('postgresql://someone:pass-word@/db?host=/nowhere')).toMatch(
    /cannot be reached \(connect ENOENT/,
  )
})

test('something that answers but is no PostgreSQL is told in one line', async () => {
  const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  expect(await refusalOf(`postgresql://someone:pass-word@127.0.0.1:${port}/db`)).toMatch(
    /^The database that DATABASE_URL/,
  )
})

test('a database that refuses us is told in one line, without the password', async () => {
  const { host, port, password } = inject('postgres')
  const at = `?host=${encodeURIComponent(host)}&port=${port}`
  expect(await refusalOf(`postgresql://parley:pass-word@/parley${at}`)).toBe(
    'The database that DATABASE_URL names refuses us: password authentication failed for user "parley".',
  )
  expect(await refusalOf(`postgresql://parley:${password}@/no_such${at}`)).toBe(
    'The database that DATABASE_URL names refuses us: database "no_such" does not exist.',
  )
})

test('a role that may not make tables is told in one line', async () => {
  const { host, port } = inject('postgres')
  const name = `guest_${newUuid().replaceAll('-', '')}`
  await asAdmin(`create role ${name} login password 'pass-word'`)
  await asAdmin(`create database ${name}`)
  onTestFinished(async () => {
    await asAdmin(`drop database ${name} with (force)`)
    await asAdmin(`drop role ${name}`)
  })
  const url = `postgresql://${name}:pass-word@/${name}?host=${encodeURIComponent(host)}&port=${port}`
  expect(await refusalOf(url)).toBe(
    'The database that DATABASE_URL names does not let its user make tables: permission denied for schema public.',
  )
})
