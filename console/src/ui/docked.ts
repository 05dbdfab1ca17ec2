import { useLayoutEffect } from 'react'
import { useIsPhone, useMedia } from '../lib/media.ts'
import { createStore, useStore } from '../lib/store.ts'

/** What an open drawer, the page next to it and the list of its row tell each other. */
export type DockWidth = 'narrow' | 'wide'

export interface Steps {
  previous: (() => void) | undefined
  next: (() => void) | undefined
}

const dockWidth = createStore<DockWidth | null>(null)
const steps = createStore<Steps | null>(null)

/** The width of the drawer that is open next to the page, or null. */
export const useDockWidth = (): DockWidth | null => useStore(dockWidth)

/** Makes the page narrower while a drawer is open next to it. */
export function useDock(open: boolean, width: DockWidth): void {
  useLayoutEffect(() => {
    if (!open) return
    dockWidth.set(width)
    return () => dockWidth.set(null)
  }, [open, width])
}

/** Whether a drawer has space next to the page. Below, it covers the page: there is no sidebar either. */
export const useIsDocked = () => useMedia('(min-width: 62em)')

/** Whether lists show two lines a row: on phones, and next to a drawer unless the window is large. */
export function useIsCompact(): boolean {
  const isLarge = useMedia('(min-width: 99em)')
  const isDocked = useDockWidth() !== null
  return useIsPhone() || (isDocked && !isLarge)
}

/** How the drawer gets to the rows before and after the open one. Without a list that has the row, there are none. */
export const useSteps = (): Steps | null => useStore(steps)

export const setSteps = (next: Steps | null): void => steps.set(next)
