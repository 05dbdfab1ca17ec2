import { Queue } from './queue.ts'

/**
 * Runs at most `max` functions at a time. Others wait in order; `onFull` is called if `maxWaiting` are waiting already.
 */
export function limitConcurrency(max: number, maxWaiting: number, onFull: () => never) {
  const waiting = new Queue<() => void>()
  let running = 0
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= max) {
      if (waiting.size >= maxWaiting) onFull()
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else running++
    try {
      return await work()
    } finally {
      // The slot goes to the function that has waited longest.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
