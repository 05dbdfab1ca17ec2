import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { newDatabase } from '../../testing/database.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { newUuid } from '../lib/ids.ts'
import { newLogger } from '../lib/logger.ts'
import { type Db, openDatabase } from './db.ts'
import { dropOldPartitions, ensurePartitions, ensureToday, withoutDays } from './partitions.ts'
import { mayDeleteOld } from './retention.ts'

const quiet = newLogger('silent')
/** In milliseconds. A write that has to wait for the read waits until its end, which comes only after the check. */
const noticeable = 2_000

async function setUp() {
  const { connection, drop } = await newDatabase()
  const db = openDatabase(connection, () => {}, 4)
  const clock = new FakeClock('2026-03-10T12:00:00Z')
  await ensurePartitions(db, clock)
  const readers: pg.Client[] = []
  onTestFinished(async () => {
    for (const reader of readers) await reader.end()
    await db.close()
    await drop()
  })
  return {
    db,
    clock,
    /** A report, or a dump: a transaction that reads every partition and stays open. */
    async read(): Promise<{ end(): Promise<unknown> }> {
      const reader = new pg.Client(connection)
      readers.push(reader)
      await reader.connect()
      await reader.query(`begin isolation level repeatable read; set parley.workspace = 'all'`)
      for (const table of ['events', 'request_log', 'delivery_attempts']) {
        await reader.query(`select count(*) from ${table}`)
      }
      return { end: () => reader.query('rollback') }
    },
    /** Writes an event, and says how long that took. */
    async write(at = clock.now()): Promise<number> {
      const began = performance.now()
      await db.change(
        `insert into events (id, workspace_id, type, body, created_at) values ($1, $1, 'message.sent', '', $2)`,
        [newUuid(), at],
      )
      return performance.now() - began
    },
    days: async (table = 'events') =>
      (
        await db.rows<{ day: string }>(
          `select right(c.relname, 8) as day from pg_inherits i join pg_class c on c.oid = i.inhrelid
           where i.inhparent = $1::regclass and not i.inhdetachpending order by 1`,
          [table],
        )
      ).map(({ day }) => day),
    tables: async () =>
      (
        await db.rows<{ name: string }>(
          `select relname as name from pg_class where relname ~ '^events_\\d{8}$' order by 1`,
        )
      ).map(({ name }) => name),
  }
}

/** How long the slowest write takes while the work is done. */
async function slowestWrite(write: () => Promise<number>, work: Promise<unknown>): Promise<number> {
  let done = false
  const finished = work.finally(() => {
    done = true
  })
  let slowest = 0
  while (!done) slowest = Math.max(slowest, await write())
  await finished
  return slowest
}

test('partitions reach from yesterday to a week ahead', async () => {
  const { clock, db, days } = await setUp()
  const expected = ['0309', '0310', '0311', '0312', '0313', '0314', '0315', '0316', '0317'].map((day) => `2026${day}`)
  for (const table of [
    'events',
    'request_log',
    'refusal_hours',
    'traffic_hours',
    'delivery_attempts',
    'delivery_hours',
  ]) {
    expect(await days(table)).toEqual(expected)
  }
  clock.forward({ hours: 24 })
  expect(await withoutDays(db, '2026-03-18', '2026-03-18')).toHaveLength(6)
  await ensurePartitions(db, clock)
  expect(await days()).toEqual([...expected, '20260318'])
})

test('a partition can be read and written only through its table', async () => {
  const { db, write } = await setUp()
  await write()
  await expect(db.rows('select * from events_20260310')).rejects.toThrow('permission denied')
  expect(await db.rows('select 1 from events')).toHaveLength(1)
  const indexes = `select count(*)::int as count from pg_index where indrelid = $1::regclass`
  const [whole] = await db.rows<{ count: number }>(indexes, ['events'])
  expect(await db.rows(indexes, ['events_20260310'])).toEqual([whole])
})

test('while a long read is open, partitions are made and no write waits', async () => {
  const { clock, db, days, read, write } = await setUp()
  await write()
  const reader = await read()
  clock.forward({ hours: 24 })
  expect(await slowestWrite(write, ensurePartitions(db, clock))).toBeLessThan(noticeable)
  expect((await days()).at(-1)).toBe('20260318')
  await reader.end()
})

test('while a long read is open, dropping old partitions makes no write wait, and is finished once it ends', async () => {
  const { clock, db, days, tables, read, write } = await setUp()
  await write()
  clock.forward({ hours: 33 * 24 })
  await ensurePartitions(db, clock)
  const reader = await read()
  // From 9 to 12 March: four partitions of six tables.
  const dropping = dropOldPartitions(db, clock, quiet, 30)
  expect(await slowestWrite(() => write(), dropping)).toBeLessThan(noticeable)
  // No longer part of the table, and not gone yet.
  expect(await days()).not.toContain('20260309')
  expect(await tables()).toContain('events_20260309')
  expect(await db.rows('select 1 from events where created_at < $1', [new Date('2026-03-10T00:00:00Z')])).toEqual([])

  await reader.end()
  await dropOldPartitions(db, clock, quiet, 30)
  expect(await tables()).toContain('events_20260312')
  await dropOldPartitions(db, clock, quiet, 30)
  expect((await tables())[0]).toBe('events_20260313')
  expect((await days())[0]).toBe('20260313')
}, 30_000)

test('a partition that was detached and not dropped, by a process that died, is dropped later', async () => {
  const { clock, db, tables } = await setUp()
  await db.change('alter table events detach partition events_20260309')
  clock.forward({ hours: 30 * 24 })
  await dropOldPartitions(db, clock, quiet, 30)
  expect((await tables())[0]).toBe('events_20260310')
})

test('two processes that drop at the same time do not disturb each other', async () => {
  const { clock, db, tables } = await setUp()
  clock.forward({ hours: 33 * 24 })
  for (const _turn of [1, 2]) await Promise.all([1, 2, 3].map(() => dropOldPartitions(db, clock, quiet, 30)))
  expect((await tables())[0]).toBe('events_20260313')
})

test('a start does not wait for anybody while today’s partitions are there', async () => {
  const { clock, db, days } = await setUp()
  clock.forward({ hours: 24 })
  await db.transaction(async (tx) => {
    // Another process makes partitions and does not come to an end.
    await tx.rows(`select pg_advisory_xact_lock(hashtext('ensure_days'))`)
    const began = performance.now()
    await ensureToday(db, clock)
    expect(performance.now() - began).toBeLessThan(noticeable)
  })
  expect((await days()).at(-1)).toBe('20260317')
  clock.forward({ hours: 20 * 24 })
  await ensureToday(db, clock)
  expect((await days()).at(-1)).toBe('20260407')
})

test('several processes that start on an empty database make the partitions together', async () => {
  const { connection, drop } = await newDatabase()
  const clock = new FakeClock('2026-03-10T12:00:00Z')
  const processes = [1, 2, 3, 4].map(() => openDatabase(connection, () => {}, 2))
  onTestFinished(async () => {
    for (const db of processes) await db.close()
    await drop()
  })
  await Promise.all(processes.map((db) => ensureToday(db, clock)))
  expect(await withoutDays(processes[0] as Db, '2026-03-09', '2026-03-17')).toEqual([])
})

test('after the database’s clock jumped, nothing is removed for its age for a day', async () => {
  const { clock, db } = await setUp()
  const logged: string[] = []
  const log = newLogger('info', { write: (line) => void logged.push(line) })
  const turn = () => mayDeleteOld(db, clock, log)
  // The database was made just now, by the real clock.
  await turn()
  logged.length = 0
  for (const _hour of Array(25)) {
    clock.forward({ hours: 1 })
    await turn()
  }
  expect([await turn(), logged]).toEqual([true, []])
  clock.forward({ hours: 60 * 24 })
  expect(await turn()).toBe(false)
  expect(logged.join()).toContain('jumped 60 days forward')
  expect(logged).toHaveLength(1)
  // Set right again: that is a jump too.
  clock.forward({ hours: -60 * 24 })
  expect(await turn()).toBe(false)
  expect(logged).toHaveLength(2)
  clock.forward({ hours: 23 })
  expect(await turn()).toBe(false)
  clock.forward({ hours: 1 })
  expect(await turn()).toBe(true)
  expect(logged).toHaveLength(2)
})
