import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

/**
 * Keeps the page open while something is shown that cannot be shown again. Back, Forward and links to another page call
 * `mayLeave` first; before the tab is closed or reloaded, the browser asks. The end of a session replaces the page and is
 * not prevented.
 */
export function useLeaveGuard(isOn: boolean, mayLeave: () => boolean): void {
  const { history } = useRouter()
  const latest = useRef(mayLeave)
  latest.current = mayLeave
  useEffect(() => {
    if (!isOn) return
    return history.block({
      blockerFn: ({ action }: { action: string }) => action !== 'REPLACE' && !latest.current(),
      enableBeforeUnload: true,
    })
  }, [isOn, history])
}
