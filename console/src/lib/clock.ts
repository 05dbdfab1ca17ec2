import { createStore, useStore } from './store.ts'

const now = createStore(Date.now())
let watchers = 0
let timer: ReturnType<typeof setInterval> | undefined

/** The current time, shared by all components and updated every five seconds. */
export const useNow = () => useStore(ticking)

const ticking = {
  ...now,
  subscribe(listener: () => void) {
    const unsubscribe = now.subscribe(listener)
    if (watchers === 0) now.set(Date.now())
    watchers += 1
    timer ??= setInterval(() => now.set(Date.now()), 5000)
    return () => {
      unsubscribe()
      watchers -= 1
      if (watchers > 0) return
      clearInterval(timer)
      timer = undefined
    }
  },
}
