import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { newDatabase } from '../../testing/database.ts'
import { startDatabaseProxy } from '../../testing/database-proxy.ts'
import { isDatabaseAway } from './connect/pool.ts'
import { openDatabase } from './db.ts'

test('a process that freezes in a transaction loses its locks and its connection, and can repeat the transaction', async () => {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  const other = openDatabase(connection, () => {}, 2)
  onTestFinished(() => other.close())
  await other.script('create table counters (value int); insert into counters values (0)')
  // Over TCP, where the first statement after it wakes up can still be sent.
  const proxy = await startDatabaseProxy(connection)
  const db = openDatabase(proxy.connection, () => {}, 1)
  onTestFinished(() => db.close())
  let isDone = false
  let updated: Promise<number> | undefined
  const error = await db
    .transaction(async (tx) => {
      const setting = 'idle_in_transaction_session_timeout'
      expect(await tx.first(`select current_setting('${setting}') as idle`)).toEqual({ idle: '5s' })
      await tx.rows(`set local ${setting} = '2s'`)
      await tx.change('update counters set value = value + 1')
      updated = other.change('update counters set value = value + 10').finally(() => {
        isDone = true
      })
      // It has the lock for as long as it runs.
      for (let statements = 0; statements < 5; statements++) {
        await sleep(500)
        await tx.rows('select 1')
      }
      expect(isDone).toBe(false)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500)
      await tx.rows('select 2')
    })
    .catch((error: unknown) => error)
  expect(error).toMatchObject({ code: '25P03' })
  expect(isDatabaseAway(error)).toBe(true)
  expect(await updated).toBe(1)
  expect(await other.first('select value from counters')).toEqual({ value: 10 })
  expect(await db.transaction((tx) => tx.rows('select 3 as three'))).toEqual([{ three: 3 }])
})
