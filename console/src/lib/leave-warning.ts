import { useEffect } from 'react'

/** The browser asks before the page is left, while something on it is shown this once. */
export function useLeaveWarning(): void {
  useEffect(() => {
    const onLeave = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', onLeave)
    return () => removeEventListener('beforeunload', onLeave)
  }, [])
}
