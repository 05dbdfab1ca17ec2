import { FocusTrap, Drawer as MantineDrawer } from '@mantine/core'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { isTyping } from '../lib/keyboard.ts'
import { useSearchParam } from '../lib/url.ts'
import { IconButton } from './button.tsx'
import { useReturnFocus } from './dialog.tsx'
import { useDock, useIsDocked, useSteps } from './docked.ts'
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
 * A panel on the right with the details of a row. The page gets narrower, so that its list stays in use: a click on
 * another row, j and k show that row. On narrow screens it covers the page. Keep the row in the URL: `const [id, setId] =
 * useSearchParam('open', { push: true })`. Then Back and Esc close it, and a shared link opens it. The DataTable with
 * `openKey` moves through the rows, and gets the focus back.
 */
export function Drawer(props: DrawerProps) {
  const isDocked = useIsDocked()
  return isDocked ? <Docked {...props} /> : <Cover {...props} />
}

function Docked({ open, onClose, wide = false, ...content }: DrawerProps) {
  useReturnFocus(open)
  useDock(open, wide ? 'wide' : 'narrow')
  const { zIndex, closeOnEscape } = useLayer(open)
  const panel = useRef<HTMLElement>(null)
  const titleId = useId()
  const [row] = useSearchParam('open')
  useEffect(() => {
    if (!open) return
    const active = document.activeElement
    // After a click, the focus stays in the list, where the arrow keys continue.
    if (active === document.body || active?.matches('tr:focus-visible')) panel.current?.focus({ preventScroll: true })
  }, [open])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another row starts at the top
  useEffect(() => {
    panel.current?.scrollTo(0, 0)
  }, [row])
  const close = useRef(onClose)
  close.current = onClose
  useEffect(() => {
    if (!open || !closeOnEscape) return
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (event.key !== 'Escape' || event.isComposing || target.dataset.mantineStopPropagation === 'true') return
      // Esc in a field, a menu or a filter of the page belongs to it.
      if (panel.current?.contains(target) || !isTyping(event, true)) close.current()
    }
    window.addEventListener('keydown', onKey, { capture: true })
    return () => window.removeEventListener('keydown', onKey, { capture: true })
  }, [open, closeOnEscape])
  if (!open) return null
  return (
    <section
      ref={panel}
      role="dialog"
      aria-labelledby={titleId}
      tabIndex={-1}
      data-drawer="docked"
      className={`${styles.docked} ${wide ? styles.wide : ''}`}
      style={{ zIndex }}
    >
      <Content {...content} onClose={onClose} title={<h2 id={titleId}>{content.title}</h2>} />
    </section>
  )
}

function Cover({ open, onClose, wide = false, title, ...content }: DrawerProps) {
  useReturnFocus(open)
  const layer = useLayer(open)
  return (
    <MantineDrawer.Root
      opened={open}
      onClose={onClose}
      position="right"
      size={wide ? 820 : 600}
      returnFocus={false}
      {...layer}
    >
      <MantineDrawer.Overlay />
      <MantineDrawer.Content data-drawer="cover">
        <FocusTrap.InitialFocus />
        <Content {...content} onClose={onClose} title={<MantineDrawer.Title>{title}</MantineDrawer.Title>} />
      </MantineDrawer.Content>
    </MantineDrawer.Root>
  )
}

function Content({ onClose, title, badge, actions, children }: Omit<DrawerProps, 'open' | 'wide'>) {
  const steps = useSteps()
  return (
    <>
      <header className={styles.head}>
        <div className={styles.words}>
          <div className={styles.title}>{title}</div>
          {badge}
        </div>
        <div className={styles.actions}>
          {actions}
          <IconButton icon="chevronUp" label="Previous (k)" disabled={!steps?.previous} onClick={steps?.previous} />
          <IconButton icon="chevronDown" label="Next (j)" disabled={!steps?.next} onClick={steps?.next} />
          <IconButton icon="cross" label="Close" onClick={onClose} />
        </div>
      </header>
      <div className={styles.body}>{children}</div>
    </>
  )
}
