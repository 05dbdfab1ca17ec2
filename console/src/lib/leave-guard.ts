import { type HistoryLocation, useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { createStore } from './store.ts'

interface Navigation {
  action: string
  currentLocation: HistoryLocation
  nextLocation: HistoryLocation
}

type MayLeave = (leaving: { isSamePage: boolean }) => boolean | Promise<boolean>

/**
 * Keeps the page open while it has something that leaving would lose. Back, Forward, links and other tabs of the page call
 * `mayLeave` first; before the browser's tab is closed or reloaded, the browser asks. The end of a session is not prevented.
 */
export function useLeaveGuard(isOn: boolean, mayLeave: MayLeave): void {
  const { history } = useRouter()
  const latest = useRef(mayLeave)
  latest.current = mayLeave
  useEffect(() => {
    if (!isOn) return
    return history.block({
      blockerFn: async ({ action, currentLocation: from, nextLocation: to }: Navigation) => {
        const isSamePage = from.pathname === to.pathname
        // Parameters that replace the entry, such as filters, keep what the page shows. Another tab or open row does not.
        const isKept = isSamePage && shownOf(from) === shownOf(to)
        if (action === 'REPLACE' && (isKept || to.pathname === '/sign-in')) return false
        return !(await latest.current({ isSamePage }))
      },
      enableBeforeUnload: true,
    })
  }, [isOn, history])
}

function shownOf({ search }: HistoryLocation): string {
  const params = new URLSearchParams(search)
  return `${params.get('tab')} ${params.get('open')}`
}

/** The open question whether to discard edits. The shell shows it. */
export const discardQuestion = createStore<{ decide(isDiscarded: boolean): void } | null>(null)

/** Asks whether to discard edits. */
export function askToDiscard(): Promise<boolean> {
  discardQuestion.get()?.decide(false)
  return new Promise((resolve) => {
    const decide = (isDiscarded: boolean) => {
      discardQuestion.set(null)
      resolve(isDiscarded)
    }
    discardQuestion.set({ decide })
  })
}
