import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Message } from '@parley/contract/message'
import { expect, test } from 'vitest'
import type { ServiceProcess } from '../testing/service.ts'
import { newProcessShop } from '../testing/shop-process.ts'
import { tempFolder } from '../testing/temp-folder.ts'
import { until } from '../testing/until.ts'
import type { Db } from './db/db.ts'

const preload = pathToFileURL(join(import.meta.dirname, '..', 'testing', 'wrong-clock.ts')).href
const hours = 3_600_000

/** The environment for a process whose clock is ahead of the real time by `aheadMs`. */
function newWrongClock(aheadMs: number) {
  const file = join(tempFolder(), 'ahead')
  writeFileSync(file, String(aheadMs))
  return {
    env: { PARLEY_TEST_CLOCK_FILE: file, NODE_OPTIONS: `--import ${preload}` },
    set({ child }: ServiceProcess, ms: number) {
      writeFileSync(file, String(ms))
      child.kill('SIGUSR2')
    },
  }
}

const partitions = async (db: Db): Promise<string[]> =>
  (
    await db.rows<{ name: string }>(
      `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where c.relname ~ '_\\d{8}$'
       order by 1`,
    )
  ).map(({ name }) => name)

const outbox = (db: Db) => db.rows<{ state: string }>('select state from outbox')

test('a process with a wrong clock does not start in any role, and deletes nothing', async () => {
  const { db, start, sendText } = await newProcessShop()
  const correct = await start({ PARLEY_ROLE: 'api' })
  expect((await sendText(correct, '16505550101')).status).toBe(202)
  const before = await partitions(db)
  expect(before.length).toBeGreaterThan(0)
  const cases = [
    ['api', 60 * 24 * hours, '60 days ahead of'],
    ['worker', 25 * hours, '25 hours ahead of'],
    ['all', -17_000, '17 seconds behind'],
  ] as const
  for (const [role, aheadMs, difference] of cases) {
    const started = await start({ ...newWrongClock(aheadMs).env, PARLEY_ROLE: role }).catch((error: Error) => error)
    expect(await partitions(db)).toEqual(before)
    expect(await outbox(db)).toEqual([{ state: 'waiting' }])
    expect(started).toBeInstanceOf(Error)
    expect((started as Error).message).toContain(
      `The clock of this machine is ${difference} the clock of the database.`,
    )
  }
  expect(await correct.stop()).toBe(0)
})

test('a process whose clock becomes wrong takes no work until it is correct again', async () => {
  const { db, start, sendText } = await newProcessShop()
  const correct = await start({ PARLEY_ROLE: 'api' })
  const clock = newWrongClock(0)
  const worker = await start({ ...clock.env, PARLEY_ROLE: 'worker', LOG_LEVEL: 'info' })
  const isReady = async () => (await fetch(`${worker.url}/readyz`)).status === 200
  expect(await isReady()).toBe(true)

  clock.set(worker, 25 * hours)
  await until('the worker is not ready', async () => !(await isReady()))
  const { status, body } = await sendText(correct, '16505550102')
  expect(status).toBe(202)
  await sleep(3_000)
  expect(await outbox(db)).toEqual([{ state: 'waiting' }])
  const lines = worker.output().match(/.*"event":"clock\.apart".*/g) ?? []
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('25 hours ahead of')

  clock.set(worker, 0)
  await until('the worker is ready again', isReady)
  await until('the message is sent', async () => (await outbox(db)).length === 0)
  const message = await db.first<{ status: string }>('select status from messages where id = $1::uuid', [
    (body as Message).id.slice('msg_'.length),
  ])
  expect(message?.status).not.toBe('failed')
  expect(await worker.stop()).toBe(0)
  expect(await correct.stop()).toBe(0)
})

test('a process whose clock is slightly off uses the time of the database', async () => {
  const { db, start, sendText } = await newProcessShop()
  const service = await start({ ...newWrongClock(10_000).env, PARLEY_ROLE: 'api' })
  const databaseTime = async () =>
    (await db.first<{ now: Date }>('select clock_timestamp() as now'))?.now.getTime() ?? 0
  const before = await databaseTime()
  const { body } = await sendText(service, '16505550103')
  const createdAt = new Date((body as Message).created_at).getTime()
  expect(createdAt).toBeGreaterThan(before - 2_000)
  expect(createdAt).toBeLessThan((await databaseTime()) + 2_000)
  expect(await service.stop()).toBe(0)
})
