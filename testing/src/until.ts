import { setTimeout as sleep } from 'node:timers/promises'

const pollMs = 10

/** Waits until `find` returns a value. Fails after `withinMs` with what it waited for. */
export async function until<T>(what: string, withinMs: number, find: () => Promise<T | undefined>): Promise<T> {
  for (const end = performance.now() + withinMs; ; await sleep(pollMs)) {
    const found = await find()
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error(`Waited ${withinMs} ms for ${what}.`)
  }
}
