import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FakeClock } from '../../../../../testing/fake-clock.ts'
import type { LeasedDelivery } from '../first-attempts.ts'
import { StartPace } from './start-pace.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const clock = new FakeClock()

function newPace(rate: number): StartPace {
  const pace = new StartPace('replay', rate, clock)
  pace.ownedUntil = new Date(clock.now().getTime() + 1_000)
  return pace
}

const newItem = () => ({}) as LeasedDelivery

/** Takes as many as it may; each begins some time later, in any order. Returns when each began. */
function simulate(pace: StartPace, seconds: number, delayMs: () => number): number[] {
  const waiting: { item: LeasedDelivery; atMs: number }[] = []
  const begun: number[] = []
  for (let ms = 0; ms < seconds * 1_000; ms++) {
    while (pace.mayTake()) {
      const item = newItem()
      pace.take(item)
      waiting.push({ item, atMs: ms + delayMs() })
    }
    for (const each of waiting.filter(({ atMs }) => atMs <= ms)) {
      waiting.splice(waiting.indexOf(each), 1)
      pace.begin(each.item)
      pace.end(each.item)
      begun.push(ms)
    }
    vi.advanceTimersByTime(1)
  }
  return begun
}

/** The times are in order. */
function mostPerSecond(begun: readonly number[]): number {
  let first = 0
  const counts = begun.map((at, index) => {
    while ((begun[first] as number) <= at - 1_000) first++
    return index - first + 1
  })
  return Math.max(...counts)
}

test.each([1, 7, 50, 500])('in no second begin more than %i, however long they take to begin', (rate) => {
  let seed = 1
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  for (const longest of [1, 50, 700]) {
    const begun = simulate(newPace(rate), 6, () => Math.floor(random() * longest))
    expect(mostPerSecond(begun)).toBeLessThanOrEqual(rate)
  }
})

test('attempts that begin immediately come to about the rate, without bursts', () => {
  const begun = simulate(newPace(80), 5, () => 0)
  expect(begun.length).toBeGreaterThan(5 * 80 * 0.95)
  for (const from of begun) expect(begun.filter((at) => at >= from && at < from + 100).length).toBeLessThanOrEqual(10)
})

test('nothing is taken while it waits, or when the lease on the replay has ended; what was not begun counts no more', () => {
  const pace = newPace(1)
  expect(pace.mayTake()).toBe(true)
  const item = newItem()
  pace.take(item)
  expect(pace.mayTake()).toBe(false)
  pace.end(item)
  expect(pace.mayTake()).toBe(true)
  pace.wait()
  expect(pace.mayTake()).toBe(false)
  vi.advanceTimersByTime(1_100)
  expect(pace.mayTake()).toBe(true)
  pace.ownedUntil = clock.now()
  expect(pace.mayTake()).toBe(false)
})
