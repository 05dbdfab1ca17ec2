import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits until `check` returns a value and returns that. On timeout it fails with the description. The longer it waits, the
 * less often it checks: a check may be a query or a look at a page, and the machine has other tests to run.
 */
export async function until<T>(
  description: string,
  check: () => T | Promise<T>,
  timeoutMs = 60_000,
): Promise<Exclude<T, false | undefined | null>> {
  const start = Date.now()
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs = Date.now() - start) {
    const found = await check()
    if (found !== false && found !== undefined && found !== null) return found as Exclude<T, false | undefined | null>
    await sleep(Math.min(15 + waitedMs / 20, 150))
  }
  throw new Error(`timed out after ${timeoutMs} ms waiting until ${description}`)
}
