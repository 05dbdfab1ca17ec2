import { serviceResponds } from './api.ts'

/** Calls `act` once the service responds, now or after any number of checks, unless it is cancelled before. */
export function whenReachable(act: () => void, onWait?: () => void): () => void {
  let isOver = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const check = async () => {
    clearTimeout(timer)
    const responds = await serviceResponds()
    if (isOver) return
    if (responds) {
      cancel()
      act()
    } else {
      onWait?.()
      timer = setTimeout(check, 3_000)
    }
  }
  const cancel = () => {
    isOver = true
    clearTimeout(timer)
    removeEventListener('online', check)
  }
  addEventListener('online', check)
  void check()
  return cancel
}
