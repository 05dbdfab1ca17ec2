import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until `check` returns a value and returns that. On timeout it fails with the description. */
export async function until<T>(
  description: string,
  check: () => T | Promise<T>,
  timeoutMs = 20_000,
): Promise<Exclude<T, false | undefined | null>> {
  for (const end = Date.now() + timeoutMs; Date.now() < end; await sleep(15)) {
    const found = await check()
    if (found !== false && found !== undefined && found !== null) return found as Exclude<T, false | undefined | null>
  }
  throw new Error(`timed out after ${timeoutMs} ms waiting until ${description}`)
}
