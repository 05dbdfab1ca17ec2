import { useLayoutEffect } from 'react'
import { useIsPhone, useMedia } from '../lib/media.ts'
import { createStore, useStore } from '../lib/store.ts'

/** What an open drawer, the page next to it and the list of its row tell each other. */
export type Room = 'narrow' | 'wide'

export interface Steps {
  previous: (() => void) | undefined
  next: (() => void) | undefined
}

const room = createStore<Room | null>(null)
const steps = createStore<Steps | null>(null)

/** The room that the page leaves for the drawer next to it, or null. */
export const useRoom = (): Room | null => useStore(room)

/** Makes the page leave room for a drawer while it is open. */
export function useTakeRoom(open: boolean, size: Room): void {
  useLayoutEffect(() => {
    if (!open) return
    room.set(size)
    return () => room.set(null)
  }, [open, size])
}

/** Whether a drawer has space next to the page. Below, it covers the page: there is no sidebar either. */
export const useIsBeside = () => useMedia('(min-width: 62em)')

/** Whether lists show two lines a row: on phones, and next to a drawer unless the window is large. */
export function useIsCompact(): boolean {
  const isLarge = useMedia('(min-width: 99em)')
  const isBeside = useRoom() !== null
  return useIsPhone() || (isBeside && !isLarge)
}

/** How the drawer gets to the rows before and after the open one. Without a list that has the row, there are none. */
export const useSteps = (): Steps | null => useStore(steps)

export const setSteps = (next: Steps | null): void => steps.set(next)
