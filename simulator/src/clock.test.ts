import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { MovableClock } from './clock.ts'

const hour = 3_600_000

test('a movable clock runs by itself, and timers that become due run in order, each at its own time', async () => {
  const clock = new MovableClock()
  const began = clock.now().getTime()
  const ran: [string, number][] = []
  const note = (name: string) => () => ran.push([name, Math.round((clock.now().getTime() - began) / hour)])
  clock.after(3 * hour, note('c'))
  clock.after(hour, () => {
    note('a')()
    clock.after(hour, note('b'))
  })
  clock.after(5 * hour, note('too late'))
  const cancel = clock.after(2 * hour, note('cancelled'))
  cancel()
  await clock.advance(4 * hour)
  expect(ran).toEqual([
    ['a', 1],
    ['b', 2],
    ['c', 3],
  ])
  expect(clock.now().getTime() - began).toBeGreaterThanOrEqual(4 * hour)
  await clock.advance(hour)
  expect(ran.at(-1)).toEqual(['too late', 5])
})

test('a timer that was armed before a move runs when the rest of its time is over', async () => {
  const clock = new MovableClock()
  let ran = false
  clock.after(hour + 20, () => {
    ran = true
  })
  await clock.advance(hour)
  expect(ran).toBe(false)
  await sleep(40)
  expect(ran).toBe(true)
})
