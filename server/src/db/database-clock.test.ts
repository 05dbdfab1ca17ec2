import { expect, test } from 'vitest'
import { DatabaseClock } from './database-clock.ts'
import type { Db } from './db.ts'

/** A machine and a database with fake clocks, and a round trip between them that takes time. */
function setUp({ roundTripMs = 10 } = {}) {
  const machine = { wallMs: 1_000_000, monotonicMs: 500 }
  const database = { ms: 1_000_000 }
  const pass = (ms: number) => {
    machine.wallMs += ms
    machine.monotonicMs += ms
    database.ms += ms
  }
  const clock = new DatabaseClock({ wall: () => machine.wallMs, monotonic: () => machine.monotonicMs })
  const db = {
    async first() {
      pass(roundTripMs / 2)
      const now = new Date(database.ms)
      pass(roundTripMs / 2)
      return { now }
    },
  } as unknown as Db
  return { machine, database, pass, clock, sync: () => clock.sync(db) }
}

test('now() is the time of the database, whatever the wall clock of the machine shows', async () => {
  const { machine, database, pass, clock, sync } = setUp()
  machine.wallMs += 8_000
  expect(await sync()).toBe(7_995)
  expect(Math.abs(clock.now().getTime() - database.ms)).toBeLessThanOrEqual(10)
  pass(60_000)
  machine.wallMs -= 3_600_000
  expect(Math.abs(clock.now().getTime() - database.ms)).toBeLessThanOrEqual(10)
  expect(clock.machine().getTime()).toBe(machine.wallMs)
})

test('now() follows the clock of the database when that is set', async () => {
  const { database, clock, sync } = setUp()
  await sync()
  database.ms += 120_000
  expect(await sync()).toBeLessThan(-119_000)
  expect(Math.abs(clock.now().getTime() - database.ms)).toBeLessThanOrEqual(10)
})

test('now() does not jump while the difference is within the round trip time', async () => {
  const { clock, sync, pass } = setUp({ roundTripMs: 400 })
  await sync()
  const before = clock.now().getTime()
  pass(1_000)
  expect(await sync()).toBe(0)
  expect(clock.now().getTime() - before).toBe(1_400)
})

test('a slow response does not count as clock skew', async () => {
  const { machine, sync } = setUp({ roundTripMs: 40_000 })
  machine.wallMs += 16_000
  expect(await sync()).toBe(0)
})

test('it is stale after 5 seconds, and immediately after the machine was suspended or its clock was set', async () => {
  const { machine, pass, clock, sync } = setUp()
  await sync()
  pass(4_900)
  expect(clock.isStale).toBe(false)
  pass(100)
  expect(clock.isStale).toBe(true)
  await sync()
  expect(clock.isStale).toBe(false)
  // While a machine is suspended, its monotonic clock does not advance.
  machine.wallMs += 2_000
  expect(clock.isStale).toBe(true)
  await sync()
  machine.wallMs -= 2_000
  expect(clock.isStale).toBe(true)
})

test('a clock that a test has moved is pinned for statements, and the database does not move it again', () => {
  const clock = new DatabaseClock({ wall: () => 1_000, monotonic: () => 0 })
  expect([clock.now().getTime(), clock.pinned()]).toEqual([1_000, null])
  clock.advance(3_600_000)
  expect(clock.pinned()).toEqual(new Date(3_601_000))
  // The time of a statement that used the moved time, and that of the database itself.
  clock.observe(3_601_000)
  clock.observe(1_000)
  expect(clock.now().getTime()).toBe(3_601_000)
})
