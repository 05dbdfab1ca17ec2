import { useEffect } from 'react'
import { createStore, useStore } from './store.ts'

/** An action in the command palette. A page offers its own while it is open. */
export interface Action {
  id: string
  title: string
  /** More search terms than the title has. */
  keywords?: string
  run(): void
}

const offered = createStore<readonly (readonly Action[])[]>([])

/** Adds the page's actions to the palette. Pass a stable array (useMemo); an empty one if the person may do none. */
export function usePaletteActions(actions: readonly Action[]): void {
  useEffect(() => {
    offered.set((before) => [...before, actions])
    return () => offered.set((before) => before.filter((each) => each !== actions))
  }, [actions])
}

export const useOfferedActions = (): Action[] => useStore(offered).flat()
