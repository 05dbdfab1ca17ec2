import { expect, onTestFinished, test } from 'vitest'
import { newDatabase } from '../../testing/database.ts'
import { startHere } from '../../testing/service-here.ts'
import { until } from '../../testing/until.ts'
import { newLogger } from '../telemetry/logger.ts'
import { type Db, openDatabase } from './db.ts'
import { inTurn, type MaintenanceStep, startMaintenance } from './maintenance.ts'

async function setUp() {
  const { connection, drop } = await newDatabase()
  const db = openDatabase(connection, () => {}, 4)
  onTestFinished(async () => {
    await db.close()
    await drop()
  })
  const logged: string[] = []
  const log = newLogger('info', { write: (line) => void logged.push(line) })
  return {
    connection,
    db,
    logged,
    /** A process that does the maintenance with one step, when it is its turn. */
    start(process: string, run: MaintenanceStep['run'] = async () => {}) {
      const own = openDatabase(connection, () => {}, 3)
      const maintenance = startMaintenance({ db: own, log, process }, [{ name: 'retention', everyMs: 100, run }])
      onTestFinished(async () => {
        await maintenance.stop()
        await own.close()
      })
      return maintenance
    },
    untilOwner: (process: string) =>
      until(`${process} is the owner`, async () => (await ownerOf(db)) === process, 40_000),
  }
}

const ownerOf = async (db: Db): Promise<string | null> =>
  (
    await db.first<{ process: string }>(
      'select process from maintenance_owner where until > clock_timestamp() and process is not null',
    )
  )?.process ?? null

/** Ends the lease of the owner, as if it had been frozen for too long. */
const endLease = (db: Db) => db.change(`update maintenance_owner set until = clock_timestamp() - interval '1 second'`)

test('a process that lost the lease in the middle of a step changes nothing more, and another one continues', async () => {
  const { db, logged, start, untilOwner } = await setUp()
  await db.script('create table writes (process text)')
  const write = (on: Db, process: string) => on.change('insert into writes values ($1)', [process])
  const frozen = Promise.withResolvers<void>()
  const ended: unknown[] = []
  let isFrozen = false
  start('first', async (owned) => {
    if (isFrozen) return
    await write(owned, 'first')
    isFrozen = true
    await frozen.promise
    for (const attempt of [() => write(owned, 'late'), () => owned.transaction((tx) => write(tx, 'late'))]) {
      await attempt().catch((error: unknown) => ended.push(error))
    }
    throw ended[0]
  })
  await until('the first process is in its step', () => isFrozen)
  start('second', async (owned) => void (await write(owned, 'second')))
  await endLease(db)
  // The first of the two gets a lease that has ended: both compete for it every three seconds.
  while ((await ownerOf(db)) !== 'second') {
    if ((await ownerOf(db)) === 'first') await endLease(db)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await untilOwner('second')
  await until('the second process did its step', () => db.first(`select 1 from writes where process = 'second'`))
  frozen.resolve()
  await until('the first process noticed it', () => logged.some((line) => line.includes('maintenance.lost')))
  expect(ended).toHaveLength(2)
  expect(await db.rows(`select process from writes where process <> 'second'`)).toEqual([{ process: 'first' }])
  // It is not a failure of the step, and the step is recorded by its owner.
  expect(logged.filter((line) => line.includes('loop.failed'))).toEqual([])
  expect(await db.rows('select process, error from maintenance_steps')).toEqual([{ process: 'second', error: null }])
})

test('a takeover waits for a transaction of the owner, and a renewal does not', async () => {
  const { db, start } = await setUp()
  let isInside = false
  const held = Promise.withResolvers<void>()
  start('first', (owned) =>
    owned.transaction(async (tx) => {
      isInside = true
      // Statements in between, because PostgreSQL ends a transaction that is idle for five seconds.
      while (!(await Promise.race([held.promise.then(() => true), tx.rows('select pg_sleep(0.2)').then(() => false)])));
    }),
  )
  await until('the owner is in a transaction', () => isInside)
  const untilOf = async () => (await db.first<{ until: Date }>('select until from maintenance_owner'))?.until.getTime()
  const before = (await untilOf()) ?? 0
  await until('the owner has renewed the lease', async () => ((await untilOf()) ?? 0) > before)
  start('second')
  const taken = db.change(`update maintenance_owner set owner_id = gen_random_uuid(), process = 'third'`)
  await until('the takeover waits', () =>
    db.first(`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%third%'`),
  )
  held.resolve()
  expect(await taken).toBe(1)
  await endLease(db)
  await until('one of the two has it again', async () => ['first', 'second'].includes((await ownerOf(db)) ?? ''))
})

test('a process forgets steps of other versions and returns the lease when it stops; one whose lease ends far in the future does not keep it', async () => {
  const { db, start, untilOwner } = await setUp()
  await db.change(
    `insert into maintenance_steps (step, every_ms, process, ended_at, duration_ms)
     values ('of another version', 1, 'gone', now(), 1)`,
  )
  const first = start('first')
  await untilOwner('first')
  await until('only the step of this version is listed', async () => {
    const [step, ...others] = await stepsOf(db)
    return step?.step === 'retention' && others.length === 0
  })
  await first.stop()
  expect(await db.first('select until::text from maintenance_owner')).toEqual({ until: '-infinity' })
  // The clock of the database was set back by a year.
  await db.change(`update maintenance_owner set process = 'gone', until = clock_timestamp() + interval '1 year'`)
  start('second')
  await untilOwner('second')
})

test('many slow steps that take long do not delay an urgent one', async () => {
  const { db, logged } = await setUp()
  const held = Promise.withResolvers<void>()
  let urgent = 0
  const log = newLogger('info', { write: (line) => void logged.push(line) })
  const slow = Array.from({ length: 8 }, (_, index) => ({
    name: `slow ${index}`,
    everyMs: 600_000,
    run: () => held.promise,
  }))
  const steps = [...slow, { name: 'urgent', everyMs: 1_000, run: async () => void urgent++ }]
  const maintenance = startMaintenance({ db, log, process: 'only' }, steps)
  onTestFinished(() => maintenance.stop())
  await until('the urgent step ran', () => urgent > 0)
  held.resolve()
})

test('the parts of a step end with the lease', async () => {
  const { db } = await setUp()
  const log = newLogger('silent')
  const held = Promise.withResolvers<void>()
  const began = Promise.withResolvers<void>()
  let ran = false
  const run = inTurn(
    async (tx) => {
      began.resolve()
      await held.promise
      await tx.rows('select 1')
    },
    async () => {
      ran = true
    },
  )
  const maintenance = startMaintenance({ db, log, process: 'only' }, [{ name: 'step', everyMs: 1_000, run }])
  await began.promise
  const stopped = maintenance.stop()
  held.resolve()
  await stopped
  expect(ran).toBe(false)
})

test('a step that takes long or fails delays no other, nor the other parts of its own step', async () => {
  const { db, logged } = await setUp()
  const held = Promise.withResolvers<void>()
  const ran: string[] = []
  const run = (name: string) => async () => void ran.push(name)
  const log = newLogger('info', { write: (line) => void logged.push(line) })
  const maintenance = startMaintenance({ db, log, process: 'only' }, [
    { name: 'long', everyMs: 1_000, run: () => held.promise },
    { name: 'failing', everyMs: 600_000, run: inTurn((tx) => tx.rows('select 1 / 0'), run('second part')) },
    { name: 'short', everyMs: 1_000, run: run('short') },
  ])
  onTestFinished(() => maintenance.stop())
  await until('the short step ran twice', () => ran.filter((name) => name === 'short').length === 2)
  expect(ran.filter((name) => name !== 'short')).toEqual(['second part'])
  const failures = logged.map((line) => JSON.parse(line)).filter(({ event }) => event === 'loop.failed')
  expect(failures).toEqual([expect.objectContaining({ loop: 'maintenance', step: 'failing' })])
  expect(await stepsOf(db)).toEqual(
    expect.arrayContaining([
      { step: 'failing', error: 'division by zero' },
      { step: 'short', error: null },
    ]),
  )
  held.resolve()
})

test('a process with the role "api" alone does every step, and creates partitions', async () => {
  const { connection, db } = await setUp()
  await startHere(connection, { PARLEY_ROLE: 'api' })
  await until('every step ran', async () => (await stepsOf(db)).length === stepCount)
  expect((await stepsOf(db)).filter(({ error }) => error !== null)).toEqual([])
  await until('the partitions of the next days exist', async () => {
    const [row] = await db.rows<{ count: number }>(
      `select count(*) as count from pg_inherits where inhparent = 'events'::regclass`,
    )
    return row?.count === 9
  })
})

/** How many steps `work.ts` lists. */
const stepCount = 16

const stepsOf = (db: Db): Promise<{ step: string; error: string | null }[]> =>
  db.rows('select step, error from maintenance_steps')
