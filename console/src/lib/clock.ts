import { createStore, useStore } from './store.ts'

/** How far the service's clock is ahead of this browser's. */
let aheadMs = 0

/** Sets the clock by a response of the service. A browser's clock may be hours off; a response takes a moment to arrive. */
export function setClock(serviceTime: string | null): void {
  const measured = Date.parse(serviceTime ?? '') - Date.now()
  if (Math.abs(measured - aheadMs) < 2000 || Number.isNaN(measured)) return
  aheadMs = measured
  everyFiveSeconds.set(serviceNow())
  everySecond.set(serviceNow())
}

export const serviceNow = () => Date.now() + aheadMs

/** The current time by the service's clock, shared by all components and updated every five seconds. */
export const useNow = () => useStore(everyFiveSeconds)

/** Whole seconds until a time, by the service's clock; 0 once it has passed. */
export function useSecondsUntil(at: string): number {
  const now = useStore(everySecond)
  return Math.max(0, Math.ceil((Date.parse(at) - now) / 1000))
}

const everyFiveSeconds = ticking(5000)
const everySecond = ticking(1000)

/** The time as a store that is updated while a component uses it. */
function ticking(everyMs: number) {
  const now = createStore(serviceNow())
  let watchers = 0
  let timer: ReturnType<typeof setInterval> | undefined
  return {
    ...now,
    subscribe(listener: () => void) {
      const unsubscribe = now.subscribe(listener)
      if (watchers === 0) now.set(serviceNow())
      watchers += 1
      timer ??= setInterval(() => now.set(serviceNow()), everyMs)
      return () => {
        unsubscribe()
        watchers -= 1
        if (watchers > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
  }
}
