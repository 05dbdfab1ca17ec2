import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Message } from '@parley/contract/message'
import { expect, test } from 'vitest'
import { newProcessShop } from '../testing/shop-process.ts'
import { tempFolder } from '../testing/temp-folder.ts'
import { until } from '../testing/until.ts'
import type { Db } from './db/db.ts'

const preload = pathToFileURL(join(import.meta.dirname, '..', 'testing', 'wrong-clock.ts')).href
const hours = 3_600_000

const partitions = async (db: Db): Promise<string[]> =>
  (
    await db.rows<{ name: string }>(
      `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where c.relname ~ '_\\d{8}$'
       order by 1`,
    )
  ).map(({ name }) => name)

const outbox = (db: Db) => db.rows<{ state: string }>('select state from outbox')

test('a process with a wrong clock does not start; one whose clock becomes wrong takes no work until it is correct again', async () => {
  const { db, start, spawn, sendText } = await newProcessShop()
  const correct = await start({ PARLEY_ROLE: 'api' })
  expect((await sendText(correct, '16505550101')).status).toBe(202)
  const before = await partitions(db)
  expect(before.length).toBeGreaterThan(0)
  const file = join(tempFolder(), 'ahead')
  const env = { PARLEY_TEST_CLOCK_FILE: file, NODE_OPTIONS: `--import ${preload}` }
  const databaseTime = async () =>
    (await db.first<{ now: Date }>('select clock_timestamp() as now'))?.now.getTime() ?? 0

  writeFileSync(file, String(60 * 24 * hours))
  await expect(spawn({ ...env, PARLEY_ROLE: 'worker' })).rejects.toThrow(
    'The clock of this machine is 60 days ahead of the clock of the database.',
  )
  expect(await partitions(db)).toEqual(before)
  expect(await outbox(db)).toEqual([{ state: 'waiting' }])

  // A clock that is slightly off is good enough: the process uses the time of the database.
  writeFileSync(file, '10000')
  const worker = await spawn({ ...env, LOG_LEVEL: 'info' })
  const isReady = async () => (await fetch(`${worker.url}/readyz`)).status === 200
  expect(await isReady()).toBe(true)
  await until('the message is sent', async () => (await outbox(db)).length === 0)
  const earliest = await databaseTime()
  const { body: own } = await sendText(worker, '16505550102')
  const createdAt = new Date((own as Message).created_at).getTime()
  expect(createdAt).toBeGreaterThan(earliest - 2_000)
  expect(createdAt).toBeLessThan((await databaseTime()) + 2_000)
  await until('its own message is sent', async () => (await outbox(db)).length === 0)

  writeFileSync(file, String(25 * hours))
  worker.child.kill('SIGUSR2')
  await until('the worker is not ready', async () => !(await isReady()))
  const { status, body } = await sendText(correct, '16505550103')
  expect(status).toBe(202)
  // A worker would have sent it within a second.
  await sleep(1_500)
  expect(await outbox(db)).toEqual([{ state: 'waiting' }])
  const lines = worker.output().match(/.*"event":"clock\.skewed".*/g) ?? []
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('25 hours ahead of')

  writeFileSync(file, '0')
  worker.child.kill('SIGUSR2')
  await until('the worker is ready again', isReady)
  await until('the message is sent', async () => (await outbox(db)).length === 0)
  const message = await db.first<{ status: string }>('select status from messages where id = $1::uuid', [
    (body as Message).id.slice('msg_'.length),
  ])
  expect(message?.status).not.toBe('failed')
  expect(await worker.stop()).toBe(0)
})
