import { FocusTrap, Drawer as MantineDrawer } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { IconButton } from './button.tsx'
import { useReturnFocus } from './dialog.tsx'
import styles from './drawer.module.css'
import { useLayer } from './layers.ts'

interface DrawerProps {
  open: boolean
  onClose: () => void
  title: ReactNode
  badge?: ReactNode
  actions?: ReactNode
  children: ReactNode
  wide?: boolean
}

/**
 * A panel on the right with the details of a row. Keep the row in the URL: `const [id, setId] = useSearchParam('open',
 * { push: true })`. Then Back and Esc close it, and a shared link opens it.
 */
export function Drawer({ open, onClose, title, badge, actions, children, wide = false }: DrawerProps) {
  useReturnFocus(open)
  const layer = useLayer(open)
  // Mantine returns the focus on closing only if the drawer was mounted before it opened.
  const [isMounted, setIsMounted] = useState(false)
  useEffect(() => setIsMounted(true), [])
  return (
    <MantineDrawer.Root
      opened={open && isMounted}
      onClose={onClose}
      position="right"
      size={wide ? 820 : 600}
      {...layer}
    >
      <MantineDrawer.Overlay />
      <MantineDrawer.Content>
        <FocusTrap.InitialFocus />
        <header className={styles.head}>
          <div className={styles.words}>
            <MantineDrawer.Title className={styles.title ?? ''}>{title}</MantineDrawer.Title>
            {badge}
          </div>
          <div className={styles.actions}>
            {actions}
            <IconButton icon="cross" label="Close" onClick={onClose} />
          </div>
        </header>
        <div className={styles.body}>{children}</div>
      </MantineDrawer.Content>
    </MantineDrawer.Root>
  )
}
