import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

/**
 * Keeps the page open while something is shown that cannot be shown again. Back, Forward and links to another page call
 * `onLeave` instead; before the tab is closed or reloaded, the browser asks. The end of a session replaces the page and is
 * not prevented.
 */
export function useLeaveGuard(isOn: boolean, onLeave: () => void): void {
  const { history } = useRouter()
  const latest = useRef(onLeave)
  latest.current = onLeave
  useEffect(() => {
    if (!isOn) return
    return history.block({
      blockerFn: ({ action }: { action: string }) => {
        if (action === 'REPLACE') return false
        latest.current()
        return true
      },
      enableBeforeUnload: true,
    })
  }, [isOn, history])
}
