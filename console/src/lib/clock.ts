import { createStore, useStore } from './store.ts'

/** How far the service's clock is ahead of this browser's. */
let aheadMs = 0

/** Sets the clock by a response of the service. A browser's clock may be hours off; a response takes a moment to arrive. */
export function setClock(serviceTime: string | null): void {
  const measured = Date.parse(serviceTime ?? '') - Date.now()
  if (Math.abs(measured - aheadMs) < 2000 || Number.isNaN(measured)) return
  aheadMs = measured
  now.set(serviceNow())
}

export const serviceNow = () => Date.now() + aheadMs
const now = createStore(serviceNow())
let watchers = 0
let timer: ReturnType<typeof setInterval> | undefined

/** The current time by the service's clock, shared by all components and updated every five seconds. */
export const useNow = () => useStore(ticking)

const ticking = {
  ...now,
  subscribe(listener: () => void) {
    const unsubscribe = now.subscribe(listener)
    if (watchers === 0) now.set(serviceNow())
    watchers += 1
    timer ??= setInterval(() => now.set(serviceNow()), 5000)
    return () => {
      unsubscribe()
      watchers -= 1
      if (watchers > 0) return
      clearInterval(timer)
      timer = undefined
    }
  },
}
