import { expect, test } from 'vitest'
import { DatabaseClock } from './database-clock.ts'
import type { Db } from './db.ts'

/** A machine and a database whose clocks are set by hand; each question takes a while. */
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
  return { machine, database, pass, clock, look: () => clock.look(db) }
}

test('it shows the time of the database, whatever the time of the machine', async () => {
  const { machine, database, pass, clock, look } = setUp()
  machine.wallMs += 8_000
  expect(await look()).toBe(7_995)
  expect(Math.abs(clock.now().getTime() - database.ms)).toBeLessThanOrEqual(10)
  pass(60_000)
  machine.wallMs -= 3_600_000
  expect(Math.abs(clock.now().getTime() - database.ms)).toBeLessThanOrEqual(10)
  expect(clock.machine().getTime()).toBe(machine.wallMs)
})

test('it follows the database when that is set', async () => {
  const { database, clock, look } = setUp()
  await look()
  database.ms += 120_000
  expect(await look()).toBeLessThan(-119_000)
  expect(Math.abs(clock.now().getTime() - database.ms)).toBeLessThanOrEqual(10)
})

test('while both agree within what a round trip leaves open, it runs on without a jump', async () => {
  const { clock, look, pass } = setUp({ roundTripMs: 400 })
  await look()
  const before = clock.now().getTime()
  pass(1_000)
  expect(await look()).toBe(0)
  expect(clock.now().getTime() - before).toBe(1_400)
})

test('an answer that took long is no proof that the clocks are apart', async () => {
  const { machine, look } = setUp({ roundTripMs: 40_000 })
  machine.wallMs += 16_000
  expect(await look()).toBe(0)
})

test('it is stale after some seconds, and at once when the machine was suspended or its clock was set', async () => {
  const { machine, pass, clock, look } = setUp()
  await look()
  pass(4_900)
  expect(clock.isStale).toBe(false)
  pass(100)
  expect(clock.isStale).toBe(true)
  await look()
  expect(clock.isStale).toBe(false)
  // While a machine is suspended, its monotonic clock stands still.
  machine.wallMs += 2_000
  expect(clock.isStale).toBe(true)
  await look()
  machine.wallMs -= 2_000
  expect(clock.isStale).toBe(true)
})
