import { getDefaultZIndex } from '@mantine/core'
import { useLayoutEffect, useState } from 'react'
import { createStore, useStore } from '../lib/store.ts'

/**
 * The open dialogs, drawers and the palette, in the order in which they were opened. Mantine stacks modals in the order in
 * which their components were mounted, and each of them handles every Esc: a prompt that the shell mounts first would open
 * behind the form that needs it. Mantine's Modal.Stack does not support drawers and hides the modals below.
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

/** Props for a Mantine Modal.Root or Drawer.Root that put it on top when it opens. With `firm` it ignores Esc. */
export function useLayer(open: boolean, { firm = false } = {}): LayerProps {
  const [layer, setLayer] = useState<Layer>({ zIndex: lowest })
  const [hasBeenOnTop, setHasBeenOnTop] = useState(false)
  const isOnTop = useStore(layers).at(-1) === layer
  // It keeps the focus trap after it has been on top once: turning a trap on again moves the focus to the first field.
  if (isOnTop && !hasBeenOnTop) setHasBeenOnTop(true)
  // A layout effect runs before the first paint, and for siblings that open together in render order.
  useLayoutEffect(() => {
    if (!open) return
    const opened: Layer = { zIndex: Math.max(lowest - 1, ...layers.get().map(({ zIndex }) => zIndex)) + 1 }
    layers.set((before) => [...before, opened])
    setLayer(opened)
    setHasBeenOnTop(false)
    return () => {
      // Deferred, because the Esc that closed this layer is still being dispatched to the layers below.
      setTimeout(() => layers.set((before) => before.filter((each) => each !== opened)))
    }
  }, [open])
  return { zIndex: layer.zIndex, closeOnEscape: isOnTop && !firm, trapFocus: hasBeenOnTop }
}
