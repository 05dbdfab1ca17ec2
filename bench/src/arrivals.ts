import { setTimeout as sleep } from 'node:timers/promises'
import type { Target } from './process.ts'

/** Reads the arrival times once all events should have arrived, because polling would slow the receiver down. */
export async function allArrivals(receiver: Target, count: number): Promise<{ times: number[]; repeats: number }> {
  const times: number[] = []
  let repeats = 0
  for (let polls = 0; polls < 100; polls++) {
    await sleep(300)
    const response = await fetch(`http://127.0.0.1:${receiver.port}/`)
    const got = (await response.json()) as { arrivals: (number | null)[]; repeats: number }
    repeats += got.repeats
    got.arrivals.forEach((time, number) => {
      if (time !== null && times[number] === undefined) times[number] = time
      else if (time !== null) repeats++
    })
    if (Object.keys(times).length >= count) break
  }
  return { times: times.filter((time) => time !== undefined), repeats }
}
