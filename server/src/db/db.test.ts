import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asAdmin, newDatabase } from '../../testing/database.ts'
import { startDatabaseProxy } from '../../testing/database-proxy.ts'
import { toRefusal } from '../http/errors.ts'
import { newUuid } from '../lib/ids.ts'
import { isDatabaseAway } from './connect/pool.ts'
import { type Connection, type Database, openDatabase } from './db.ts'
import { migrate, programVersion, readMigrations } from './migrate/migrate.ts'

let connection: Connection
let db: Database
let drop: () => Promise<void>
const lost: Error[] = []

beforeAll(async () => {
  ;({ connection, drop } = await newDatabase())
  db = openDatabase(connection, (error) => lost.push(error), 2)
})

afterAll(async () => {
  await db.close()
  await drop()
})

/** Closes every connection, as PostgreSQL does when it stops or crashes. */
const cutAll = () =>
  asAdmin(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${connection.database}'`)

test('a connection that is lost between two statements only fails its transaction', async () => {
  const work = db.transaction(async (tx) => {
    await tx.rows('select 1')
    await cutAll()
    // The loss is noticed while no statement runs. Without a listener, the error event would end the process.
    await new Promise((resolve) => setTimeout(resolve, 50))
    await tx.rows('select 2')
  })
  await expect(work).rejects.toThrow(/terminat/)
  expect(await db.first('select 3 as three')).toEqual({ three: 3 })
})

test('a connection that is lost during setup only fails the statement that waits for it', async () => {
  let isCutting = true
  const server = createServer((near) => {
    const far = connect(join(String(connection.host), `.s.PGSQL.${connection.port}`))
    near.on('error', () => {}).on('close', () => far.destroy())
    far.on('error', () => {}).on('close', () => near.destroy())
    far.pipe(near)
    near.on('data', (chunk) => void (isCutting && chunk.includes('set parley.') ? near.destroy() : far.write(chunk)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const fragile = openDatabase({ ...connection, host: '127.0.0.1', port }, () => {}, 2)
  await expect(fragile.rows('select 1')).rejects.toThrow(/terminated/)
  isCutting = false
  expect(await fragile.first('select 2 as two')).toEqual({ two: 2 })
  await fragile.close()
  server.close()
})

test('idle connections that are lost are replaced', async () => {
  await Promise.all([db.rows('select 1'), db.rows('select 1')])
  const before = lost.length
  await cutAll()
  await expect.poll(() => lost.length - before).toBe(2)
  expect(await db.first('select 4 as four')).toEqual({ four: 4 })
})

test('a failed transaction is rolled back', async () => {
  await db.script('create table items (id int)')
  const work = db.transaction(async (tx) => {
    await tx.change('insert into items values (1)')
    throw new Error('changed my mind')
  })
  await expect(work).rejects.toThrow('changed my mind')
  expect(await db.rows('select id from items')).toEqual([])
})

test('a transaction that hides the error of a statement fails, because PostgreSQL has rolled it back', async () => {
  const work = db.transaction(async (tx) => {
    await tx.change('create table hidden (id int)')
    await tx.rows('select 1 / 0').catch(() => {})
  })
  await expect(work).rejects.toThrow('the transaction was rolled back')
})

test('a transaction in one round trip is committed as a whole, or fails with the error of its statement', async () => {
  await db.script('create table pairs (id int)')
  const insertion = 'insert into pairs values ($1)'
  const failing = db.transactionAtOnce((tx) => Promise.all([tx.change(insertion, [1]), tx.rows('select 1 / 0')]))
  await expect(failing).rejects.toThrow('division by zero')
  const committed: number[] = []
  const both = db.transactionAtOnce((tx) => {
    tx.afterCommit(() => void committed.push(2))
    return Promise.all([tx.change(insertion, [2]), tx.change(insertion, [3])])
  })
  expect(await both).toEqual([1, 1])
  expect(committed).toEqual([2])
  expect(await db.rows('select id from pairs order by id')).toEqual([{ id: 2 }, { id: 3 }])
})

test('a transaction in one round trip runs no statement that was sent after the commit', async () => {
  const work = db.transactionAtOnce(async (tx) => {
    await tx.rows('select 1')
    await tx.change('create table after_commit (id int)')
  })
  await expect(work).rejects.toThrow('the transaction has ended')
  expect(await db.first(`select to_regclass('after_commit') as found`)).toEqual({ found: null })
})

test('a part of a transaction that continues after another part has failed runs no more statements', async () => {
  let part: Promise<unknown> | undefined
  const work = db.transaction(async (tx) => {
    const steps = async () => {
      await tx.rows('select pg_sleep(0.1)')
      await new Promise((resolve) => setTimeout(resolve, 200))
      await tx.change('create table late (id int)')
    }
    part = steps()
    part.catch(() => {})
    throw new Error('the other part failed')
  })
  await expect(work).rejects.toThrow('the other part failed')
  await expect(part).rejects.toThrow('the transaction has ended')
  expect(await db.first(`select to_regclass('late') as late`)).toEqual({ late: null })
})

test('a transaction that PostgreSQL has ended because it was idle fails like one whose connection was lost', async () => {
  // Over TCP: a Unix socket would not accept the statement any more.
  const remote = openDatabase((await startDatabaseProxy(connection)).connection, () => {}, 2)
  const work = remote.transaction(async (tx) => {
    await tx.rows(`select set_config('idle_in_transaction_session_timeout', '50', true)`)
    // The process is frozen, and sends the next statement before it reads that the connection was closed.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
    await tx.rows('select 1')
  })
  const error = await work.catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: '25P03' })
  expect(isDatabaseAway(error)).toBe(true)
  expect(toRefusal(error).code).toBe('service_unavailable')
  expect(await remote.first('select 5 as five')).toEqual({ five: 5 })
  await remote.close()
})

test('an error of our own code is no lost connection', () => {
  expect(isDatabaseAway(new TypeError('x is undefined'))).toBe(false)
  expect(isDatabaseAway({ errno: 1, message: 'connection' })).toBe(false)
})

test('no connection compiles statements with JIT, although the server does by default', async () => {
  await asAdmin(`alter database ${connection.database} set jit = on`)
  const client = new pg.Client(connection)
  await client.connect()
  expect((await client.query('show jit')).rows).toEqual([{ jit: 'on' }])
  const service = openDatabase(connection, () => {}, 1)
  const session = await service.session()
  const later = {
    version: programVersion() + 1,
    name: 'later.sql',
    text: `create table migrated as select current_setting('jit')`,
  }
  await migrate(connection, [...readMigrations(), later])
  const seen = {
    background: await service.rows('show jit'),
    workspace: await service.within(newUuid()).rows('show jit'),
    session: await session.rows('show jit'),
    migration: await service.rows('select current_setting as jit from migrated'),
  }
  await session.close()
  await service.close()
  await client.query(`drop table migrated; delete from migrations where version = ${later.version}`)
  await client.end()
  const off = [{ jit: 'off' }]
  expect(seen).toEqual({ background: off, workspace: off, session: off, migration: off })
})
