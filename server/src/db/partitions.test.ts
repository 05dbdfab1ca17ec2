import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { asAdmin, newDatabase, type TestDatabase } from '../../testing/database.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { openTransaction } from '../../testing/open-transaction.ts'
import { until } from '../../testing/until.ts'
import { newUuid } from '../lib/ids.ts'
import { newLogger } from '../telemetry/logger.ts'
import { type Database, type Db, openDatabase } from './db.ts'
import { dropOldPartitions, ensurePartitions, ensureToday, indexPartitions, tablesMissingDays } from './partitions.ts'
import { mayDeleteOld } from './retention.ts'

const quiet = newLogger('silent')
/** A write that has to wait for the open read would wait longer than this, because the read ends after the check. */
const blockedMs = 2_000

const newClock = () => new FakeClock('2026-03-10T12:00:00Z')

/** A database with the partitions of the first days, which the tests copy. */
let withDays: TestDatabase

beforeAll(async () => {
  withDays = await newDatabase()
  const db = openDatabase(withDays.connection, () => {}, 1)
  await ensurePartitions(db, newClock())
  await db.close()
})
afterAll(() => withDays.drop())

async function setUp() {
  const { connection, drop } = await newDatabase(withDays.connection.database)
  const db = openDatabase(connection, () => {}, 4)
  const clock = newClock()
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
    /** Writes an event, and returns how long that took in milliseconds. */
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

/** The duration of the slowest write while the work is running. */
async function slowestWrite(write: () => Promise<number>, work: Promise<unknown>): Promise<number> {
  let done = false
  const finished = work.finally(() => {
    done = true
  })
  let slowest = 0
  while (!done) {
    slowest = Math.max(slowest, await write())
    await sleep(5)
  }
  await finished
  return slowest
}

test('ensurePartitions creates the partitions from yesterday to a week ahead', async () => {
  const { clock, db, days } = await setUp()
  const expected = ['0309', '0310', '0311', '0312', '0313', '0314', '0315', '0316', '0317'].map((day) => `2026${day}`)
  for (const table of [
    'events',
    'request_log',
    'request_errors',
    'request_bodies',
    'refusal_hours',
    'traffic_hours',
    'delivery_attempts',
    'delivery_hours',
  ]) {
    expect(await days(table)).toEqual(expected)
  }
  clock.forward({ hours: 24 })
  expect(await tablesMissingDays(db, '2026-03-18', '2026-03-18')).toHaveLength(9)
  await ensurePartitions(db, clock)
  expect(await days()).toEqual([...expected, '20260318'])
})

test('an index that a migration creates on the whole table is built for each partition, and writes do not wait for it', async () => {
  const { db, clock, read, write } = await setUp()
  for (let n = 0; n < 20; n++) await write()
  await db.script('create index events_by_body on only events (length(body)) where length(body) > 0')
  const isValid = async () => {
    const row = await db.first<{ valid: boolean }>(
      `select indisvalid as valid from pg_index where indexrelid = 'events_by_body'::regclass`,
    )
    return row?.valid
  }
  expect(await isValid()).toBe(false)
  // A process that was stopped left an incomplete one.
  await db.script('create index events_20260310_by_body on only events_20260310 (length(body))')
  const { end } = await read()
  const building = indexPartitions(db, quiet)
  // It waits for the open read, and writes do not wait for it.
  const slowest = await slowestWrite(write, sleep(500))
  expect(slowest).toBeLessThan(blockedMs)
  await end()
  await building
  expect(await isValid()).toBe(true)
  // New partitions get it by themselves, and there is nothing left to do.
  clock.forward({ hours: 24 * 3 })
  await ensurePartitions(db, clock)
  expect(await isValid()).toBe(true)
  await indexPartitions(db, quiet)
  const [count] = await db.rows<{ count: number }>(
    `select count(*)::int as count from pg_inherits where inhparent = 'events_by_body'::regclass`,
  )
  expect(count?.count).toBe(12)
})

/** Another session waits in this statement, and has looked for a deadlock. */
const untilWaits = (db: Db, statement: string) =>
  until(`${statement} waits`, () =>
    db.first(
      `select 1 from pg_stat_activity
       where wait_event_type = 'Lock' and datname = current_database() and query ilike $1 || '%'
         and clock_timestamp() - query_start > interval '200 milliseconds'`,
      [statement],
    ),
  )

const unindexed = (db: Db) =>
  db.rows(
    `select p.inhrelid::regclass from pg_inherits p where p.inhparent = 'events'::regclass and not p.inhdetachpending
       and not exists (select from pg_index i join pg_inherits a on a.inhrelid = i.indexrelid
         where i.indrelid = p.inhrelid and i.indisvalid and a.inhparent = 'events_by_body'::regclass)`,
  )

/** A build of an index, which begins with the last partition and waits for an open transaction. */
async function buildThatWaits(db: Database) {
  await db.script('create index events_by_body on only events (length(body)) where length(body) > 0')
  const writing = await openTransaction(db, (tx) =>
    tx.change(
      `insert into events (id, workspace_id, type, body, created_at) values ($1, $1, 'message.sent', '', '2026-03-17')`,
      [newUuid()],
    ),
  )
  const building = indexPartitions(db, quiet)
  await untilWaits(db, 'create index')
  return { writing, building }
}

test('while indexes are built, no partition is detached, and the build completes', async () => {
  const { clock, db, days, write } = await setUp()
  const { writing, building } = await buildThatWaits(db)
  clock.forward({ hours: 31 * 24 })
  await dropOldPartitions(db, clock, quiet, 30)
  await writing.commit()
  await building
  expect(await unindexed(db)).toEqual([])
  await dropOldPartitions(db, clock, quiet, 30)
  expect((await days())[0]).toBe('20260311')
  await ensurePartitions(db, clock)
  await write()
})

test('an index build that PostgreSQL ends because of a deadlock is tried again', async () => {
  const { connection, drop } = await newDatabase(withDays.connection.database)
  await asAdmin(`alter database ${connection.database} set deadlock_timeout = '50ms'`)
  const db = openDatabase(connection, () => {}, 4)
  onTestFinished(async () => {
    await db.close()
    await drop()
  })
  const { writing, building } = await buildThatWaits(db)
  // It waits for the lock of the build, which then waits for its snapshot.
  const analyzing = db.script('analyze events')
  await untilWaits(db, 'analyze')
  await writing.commit()
  await building
  await analyzing
  expect(await unindexed(db)).toEqual([])
})

test('an index that is built and could not be attached is not built again, unless its definition differs', async () => {
  const { db } = await setUp()
  await db.script(`create index events_by_body on only events (length(body)) where length(body) > 0;
    create index events_20260317_by_body on events_20260317 (length(body)) where length(body) > 0;
    create index events_20260316_by_body on events_20260316 (length(body))`)
  const built = () =>
    db.rows<{ oid: number; other: number }>(
      `select 'events_20260317_by_body'::regclass::oid, 'events_20260316_by_body'::regclass::oid as other`,
    )
  const [before] = await built()
  await indexPartitions(db, quiet)
  expect(await unindexed(db)).toEqual([])
  const [after] = await built()
  expect(after?.oid).toBe(before?.oid)
  expect(after?.other).not.toBe(before?.other)
})

test('a partition can be read and written only through its table', async () => {
  const { db, write } = await setUp()
  await write()
  await expect(db.rows('select * from events_20260310')).rejects.toThrow('permission denied')
  expect(await db.rows('select 1 from events')).toHaveLength(1)
  const indexes = `select count(*)::int as count from pg_index where indrelid = $1::regclass`
  const [expected] = await db.rows<{ count: number }>(indexes, ['events'])
  expect(await db.rows(indexes, ['events_20260310'])).toEqual([expected])
})

test('partitions are created while a long read is open, and no write waits', async () => {
  const { clock, db, days, read, write } = await setUp()
  await write()
  const reader = await read()
  clock.forward({ hours: 24 })
  expect(await slowestWrite(write, ensurePartitions(db, clock))).toBeLessThan(blockedMs)
  expect((await days()).at(-1)).toBe('20260318')
  await reader.end()
})

test('dropping old partitions while a long read is open blocks no write, and completes after the read', async () => {
  const { clock, db, days, tables, read, write } = await setUp()
  await write()
  clock.forward({ hours: 33 * 24 })
  await ensurePartitions(db, clock)
  const reader = await read()
  // March 9 to 12: four partitions of six tables.
  const dropping = dropOldPartitions(db, clock, quiet, 30)
  expect(await slowestWrite(() => write(), dropping)).toBeLessThan(blockedMs)
  // Detached, but not dropped yet.
  expect(await days()).not.toContain('20260309')
  expect(await tables()).toContain('events_20260309')
  expect(await db.rows('select 1 from events where created_at < $1', [new Date('2026-03-10T00:00:00Z')])).toEqual([])

  await reader.end()
  await dropOldPartitions(db, clock, quiet, 30)
  expect(await tables()).toContain('events_20260312')
  await dropOldPartitions(db, clock, quiet, 30)
  expect((await tables())[0]).toBe('events_20260313')
  expect((await days())[0]).toBe('20260313')
})

test('a partition that a crashed process detached and did not drop is dropped later', async () => {
  const { clock, db, tables } = await setUp()
  await db.change('alter table events detach partition events_20260309')
  clock.forward({ hours: 30 * 24 })
  await dropOldPartitions(db, clock, quiet, 30)
  expect((await tables())[0]).toBe('events_20260310')
})

test('several processes can drop partitions at the same time', async () => {
  const { clock, db, tables } = await setUp()
  clock.forward({ hours: 33 * 24 })
  for (const _run of [1, 2]) await Promise.all([1, 2, 3].map(() => dropOldPartitions(db, clock, quiet, 30)))
  expect((await tables())[0]).toBe('events_20260313')
})

test('ensureToday does not wait for locks if today’s partitions exist', async () => {
  const { clock, db, days } = await setUp()
  clock.forward({ hours: 24 })
  await db.transaction(async (tx) => {
    // Another process is creating partitions and does not finish.
    await tx.rows(`select pg_advisory_xact_lock(hashtext('ensure_days'))`)
    const began = performance.now()
    await ensureToday(db, clock)
    expect(performance.now() - began).toBeLessThan(blockedMs)
  })
  expect((await days()).at(-1)).toBe('20260317')
  clock.forward({ hours: 20 * 24 })
  await ensureToday(db, clock)
  expect((await days()).at(-1)).toBe('20260407')
})

test('a process that starts tries again while another one creates partitions', async () => {
  const { clock, db, days } = await setUp()
  clock.forward({ hours: 20 * 24 })
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
  const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>()
  const holder = db.transaction(async (tx) => {
    await tx.rows(`select pg_advisory_xact_lock(hashtext('ensure_days'))`)
    hold()
    await isReleased
  })
  await isHeld
  let tries = 0
  const rows: Db['rows'] = (text, values) => {
    if (text.includes('ensure_days(') && ++tries === 2) release()
    return db.rows(text, values)
  }
  await ensureToday({ ...db, rows }, clock)
  await holder
  expect((await days()).at(-1)).toBe('20260406')
})

test('several processes can start on an empty database and create the partitions', async () => {
  const { connection, drop } = await newDatabase()
  const clock = newClock()
  const processes = [1, 2, 3, 4].map(() => openDatabase(connection, () => {}, 2))
  onTestFinished(async () => {
    for (const db of processes) await db.close()
    await drop()
  })
  await Promise.all(processes.map((db) => ensureToday(db, clock)))
  expect(await tablesMissingDays(processes[0] as Db, '2026-03-09', '2026-03-17')).toEqual([])
})

test('mayDeleteOld is false for a day after the clock of the database jumped', async () => {
  const { clock, db } = await setUp()
  const logged: string[] = []
  const log = newLogger('info', { write: (line) => void logged.push(line) })
  const check = () => mayDeleteOld(db, clock, log)
  // The database was just created with the time of the real clock.
  await check()
  logged.length = 0
  for (const _hour of Array(25)) {
    clock.forward({ hours: 1 })
    await check()
  }
  expect([await check(), logged]).toEqual([true, []])
  clock.forward({ hours: 60 * 24 })
  expect(await check()).toBe(false)
  expect(logged.join()).toContain('jumped 60 days forward')
  expect(logged).toHaveLength(1)
  // Correcting the clock is a jump too.
  clock.forward({ hours: -60 * 24 })
  expect(await check()).toBe(false)
  expect(logged).toHaveLength(2)
  clock.forward({ hours: 23 })
  expect(await check()).toBe(false)
  clock.forward({ hours: 1 })
  expect(await check()).toBe(true)
  expect(logged).toHaveLength(2)
})
