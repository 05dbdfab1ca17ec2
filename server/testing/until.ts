import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until something holds; what it found is the answer. Fails loudly, with what was hoped for. */
export async function until<T>(
  hope: string,
  look: () => T | Promise<T>,
  timeoutMs = 20_000,
): Promise<Exclude<T, false | undefined | null>> {
  for (const end = Date.now() + timeoutMs; Date.now() < end; await sleep(15)) {
    const found = await look()
    if (found !== false && found !== undefined && found !== null) return found as Exclude<T, false | undefined | null>
  }
  throw new Error(`waited ${timeoutMs} ms in vain: ${hope}`)
}
