import { Tooltip } from '@mantine/core'
import type { ReactElement, ReactNode } from 'react'

/** A tooltip on hover and focus. Never put information only here. */
export function Tip({
  text,
  children,
  position = 'top',
}: {
  text: ReactNode
  children: ReactElement
  position?: 'top' | 'bottom' | 'right' | 'left'
}) {
  return (
    <Tooltip label={text} position={position} events={{ hover: true, focus: true, touch: false }}>
      {children}
    </Tooltip>
  )
}
