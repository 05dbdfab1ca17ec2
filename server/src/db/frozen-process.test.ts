import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { newDatabase } from '../../testing/database.ts'
import { startDatabaseProxy } from '../../testing/database-proxy.ts'
import { spawnNode } from '../../testing/parley.ts'
import { until } from '../../testing/until.ts'
import { openDatabase } from './db.ts'
import { isDatabaseAway } from './pool.ts'

const lockProcess = join(import.meta.dirname, '..', '..', 'testing', 'lock-process.ts')

test('the locks of a process that is frozen in a transaction are released', async () => {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  const db = openDatabase(connection, () => {}, 2)
  onTestFinished(() => db.close())
  await db.script('create table counters (value int); insert into counters values (0)')
  const other = spawnNode([lockProcess], { TEST_CONNECTION: JSON.stringify(connection) })
  await until('the other process holds the lock', () => other.out().includes('locked'))
  let isDone = false
  const updated = db.change('update counters set value = value + 10').finally(() => {
    isDone = true
  })
  // It is held for as long as the other process runs.
  await db.rows('select pg_sleep(6)')
  expect(isDone).toBe(false)
  other.child.kill('SIGSTOP')
  expect(await updated).toBe(1)
  expect(await db.first('select value from counters')).toEqual({ value: 10 })
})

test('a process that was frozen in a transaction knows that it lost its connection, and can repeat the transaction', async () => {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  // Over TCP, where the first statement can still be sent.
  const proxy = await startDatabaseProxy(connection)
  const db = openDatabase(proxy.connection, () => {}, 1)
  onTestFinished(() => db.close())
  const error = await db
    .transaction(async (tx) => {
      await tx.rows('select 1')
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_500)
      await tx.rows('select 2')
    })
    .catch((error: unknown) => error)
  expect(error).toMatchObject({ code: '25P03' })
  expect(isDatabaseAway(error)).toBe(true)
  expect(await db.transaction((tx) => tx.rows('select 3 as three'))).toEqual([{ three: 3 }])
})
