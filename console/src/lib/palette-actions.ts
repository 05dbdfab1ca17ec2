import { useEffect } from 'react'
import { createStore, useStore } from './store.ts'

/** Something the palette can do: a page offers its own while it is open. */
export interface Action {
  id: string
  title: string
  /** Words by which it is found besides its title. */
  keywords?: string
  run(): void
}

const offered = createStore<readonly (readonly Action[])[]>([])

/** Offers a page's actions in the palette. Pass the same array each time (useMemo), or none while not permitted. */
export function usePaletteActions(actions: readonly Action[]): void {
  useEffect(() => {
    offered.set((before) => [...before, actions])
    return () => offered.set((before) => before.filter((each) => each !== actions))
  }, [actions])
}

export const useOfferedActions = (): Action[] => useStore(offered).flat()
