import { Queue } from './queue.ts'

/** Runs so many at once; others wait for their turn, and `overrun` is called when too many wait already. */
export function limitConcurrency(most: number, waitingMax: number, overrun: () => never) {
  const waiting = new Queue<() => void>()
  let running = 0
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= most) {
      if (waiting.size >= waitingMax) overrun()
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else running++
    try {
      return await work()
    } finally {
      // The place goes to whoever waits the longest.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
