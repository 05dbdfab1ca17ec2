import { Tooltip } from '@mantine/core'
import type { ReactElement, ReactNode } from 'react'

/** Words that appear on hover and on focus. Never the only place where something is said. */
export function Tip({
  words,
  children,
  position = 'top',
}: {
  words: ReactNode
  children: ReactElement
  position?: 'top' | 'bottom' | 'right' | 'left'
}) {
  return (
    <Tooltip label={words} position={position} events={{ hover: true, focus: true, touch: false }}>
      {children}
    </Tooltip>
  )
}
