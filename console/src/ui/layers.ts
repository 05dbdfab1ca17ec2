import { getDefaultZIndex } from '@mantine/core'
import { useLayoutEffect, useState } from 'react'
import { createStore, useStore } from '../lib/store.ts'

/**
 * The dialogs, drawers and the palette that are open, in the order in which they were opened. Mantine stacks modals in the
 * order in which their components were mounted, and each of them hears every Esc: a prompt that the shell mounts first
 * would open behind the form that needs it. Mantine's own Modal.Stack does not take drawers and hides what is below.
 */
interface Layer {
  zIndex: number
}

const layers = createStore<readonly Layer[]>([])
const lowest = getDefaultZIndex('modal')

interface LayerProps {
  zIndex: number
  closeOnEscape: boolean
  trapFocus: boolean
}

/** The props of a Mantine Modal.Root or Drawer.Root that put it on top when it opens. A `firm` one ignores Esc. */
export function useLayer(open: boolean, { firm = false } = {}): LayerProps {
  const [layer, setLayer] = useState<Layer>({ zIndex: lowest })
  const [hasBeenOnTop, setHasBeenOnTop] = useState(false)
  const isOnTop = useStore(layers).at(-1) === layer
  // Once it has had the focus, it keeps its trap: switched off and on again, a trap moves the focus to its first field.
  if (isOnTop && !hasBeenOnTop) setHasBeenOnTop(true)
  // Before the first paint, and for siblings that open together in the order in which they are drawn.
  useLayoutEffect(() => {
    if (!open) return
    const opened: Layer = { zIndex: Math.max(lowest - 1, ...layers.get().map(({ zIndex }) => zIndex)) + 1 }
    layers.set((before) => [...before, opened])
    setLayer(opened)
    setHasBeenOnTop(false)
    return () => {
      // Not at once: the Esc that closed this one is still on its way to those below.
      setTimeout(() => layers.set((before) => before.filter((each) => each !== opened)))
    }
  }, [open])
  return { zIndex: layer.zIndex, closeOnEscape: isOnTop && !firm, trapFocus: hasBeenOnTop }
}
