import { setTimeout as sleep } from 'node:timers/promises'
import type { Arrivals, ReceiverSettings } from '../targets/receiver.ts'
import type { Target } from './process.ts'

/** The wait ends when no event has arrived for this long. */
const patienceMs = 30_000
const pollMs = 300

export interface AllArrivals {
  /** In milliseconds since 1970, by the index of `Arrivals`; undefined if the event is missing. */
  times: (number | undefined)[]
  /** Of the expected events. */
  missing: number
  repeats: number
  invalid: number
}

export async function setReceiver(receiver: Target, settings: ReceiverSettings): Promise<void> {
  await fetch(`http://127.0.0.1:${receiver.port}/`, { method: 'PUT', body: JSON.stringify(settings) })
}

/** Waits for events. Call it once most should have arrived, because polling slows the receiver down. */
export async function allArrivals(receiver: Target, count: number): Promise<AllArrivals> {
  const times: (number | undefined)[] = new Array(count)
  let found = 0
  let repeats = 0
  let invalid = 0
  let lastAt = performance.now()
  while (found < count && performance.now() - lastAt < patienceMs) {
    await sleep(pollMs)
    const response = await fetch(`http://127.0.0.1:${receiver.port}/`)
    const got = (await response.json()) as Arrivals
    repeats += got.repeats
    invalid += got.invalid
    for (const [index, time] of got.arrivals.entries()) {
      if (time === null) continue
      lastAt = performance.now()
      if (times[index] !== undefined) repeats++
      else {
        times[index] = time
        found++
      }
    }
  }
  return { times, missing: count - found, repeats, invalid }
}
