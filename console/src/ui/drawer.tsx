import { FocusTrap, Drawer as MantineDrawer } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { IconButton } from './button.tsx'
import { useFocusBack } from './dialog.tsx'
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
 * A page's second page: the open row, from the right. The URL holds which: `const [id, setId] = useSearchParam('open',
 * { push: true })`, so Back and Esc close it and a pasted link opens it.
 */
export function Drawer({ open, onClose, title, badge, actions, children, wide = false }: DrawerProps) {
  useFocusBack(open)
  const layer = useLayer(open)
  // Only a drawer that is there already when it opens notes where the focus was, and gives it back as it closes.
  const [isThere, setIsThere] = useState(false)
  useEffect(() => setIsThere(true), [])
  return (
    <MantineDrawer.Root opened={open && isThere} onClose={onClose} position="right" size={wide ? 820 : 600} {...layer}>
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
