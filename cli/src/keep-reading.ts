import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '@parley/server/lib/refuse'
import { databaseAway } from './explain.ts'
import { sayAside } from './print.ts'

/** Until it reads again after the database was away. */
const retryMs = 1_000

/** Reads again and again until it is stopped. While the database is away, it says so once and waits for it. */
export async function keepReading(stopped: AbortSignal, read: () => Promise<void>): Promise<void> {
  let isAway = false
  while (!stopped.aborted) {
    try {
      await read()
      isAway = false
    } catch (error) {
      if (stopped.aborted) return
      if (error instanceof Refusal && error.status < 500) throw error
      if (!isAway) sayAside(`${databaseAway(error)} Trying again.`)
      isAway = true
      await sleep(retryMs, undefined, { signal: stopped }).catch(() => {})
    }
  }
}
