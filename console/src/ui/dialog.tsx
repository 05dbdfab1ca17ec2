import { FocusTrap, Modal } from '@mantine/core'
import { type FormEvent, type ReactNode, useLayoutEffect, useState } from 'react'
import { wordsOf } from '../lib/api.ts'
import { Button, IconButton } from './button.tsx'
import styles from './dialog.module.css'
import { TextInput } from './fields.tsx'
import { useLayer } from './layers.ts'
import { Notice } from './states.tsx'

interface DialogProps {
  open: boolean
  onClose: () => void
  title: string
  detail?: ReactNode
  children?: ReactNode
  /** Buttons at the foot. */
  actions?: ReactNode
  size?: 's' | 'm' | 'l'
  /** Called on submit; the dialog is then a form, and its submit button belongs in `actions`. */
  onSubmit?: () => void
  /** A dialog that must not be closed by a slip has no cross, and neither Esc nor a click outside closes it. */
  firm?: boolean
}

const widths = { s: 400, m: 520, l: 720 }

/** A dialog: it opens on top of what is open already, takes the focus, keeps it and gives it back; Esc closes it. */
export function Dialog({
  open,
  onClose,
  title,
  detail,
  children,
  actions,
  size = 'm',
  onSubmit,
  firm = false,
}: DialogProps) {
  useFocusBack(open)
  const layer = useLayer(open, { firm })
  const body = (
    <>
      <div className={styles.body}>{children}</div>
      {actions && <footer className={styles.foot}>{actions}</footer>}
    </>
  )
  return (
    <Modal.Root opened={open} onClose={onClose} size={widths[size]} centered closeOnClickOutside={!firm} {...layer}>
      <Modal.Overlay />
      <Modal.Content>
        {/* A form's first field takes the focus; of any other dialog, the dialog itself. */}
        {!onSubmit && <FocusTrap.InitialFocus />}
        <header className={styles.head}>
          <div>
            <Modal.Title className={styles.title ?? ''}>{title}</Modal.Title>
            {detail && <div className={styles.detail}>{detail}</div>}
          </div>
        </header>
        {onSubmit ? (
          <form
            noValidate
            onSubmit={(event: FormEvent) => {
              event.preventDefault()
              event.stopPropagation()
              onSubmit()
            }}
          >
            {body}
          </form>
        ) : (
          body
        )}
        {!firm && (
          <div className={styles.close}>
            <IconButton icon="cross" label="Close" onClick={onClose} />
          </div>
        )}
      </Modal.Content>
    </Modal.Root>
  )
}

/** What opened the first of several dialogs: one that follows on another was opened by a button that is gone with it. */
let onPage: HTMLElement | null = null

/** Gives the focus back to what opened a dialog, also when the dialog is taken away whole; of a menu, to its button. */
export function useFocusBack(open: boolean): void {
  useLayoutEffect(() => {
    if (!open) return
    const active = document.activeElement as HTMLElement | null
    const menu = active?.closest('[role="menu"]')
    const opener = menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : active
    if (opener && opener !== document.body && !opener.closest('[role="dialog"]')) onPage = opener
    return () => {
      setTimeout(() => {
        if (document.activeElement !== document.body) return
        if (opener?.isConnected && opener !== document.body) opener.focus()
        else onPage?.focus()
      }, 250)
    }
  }, [open])
}

interface ConfirmDialogProps {
  open: boolean
  onClose: () => void
  title: string
  children: ReactNode
  /** The words on the button: say the deed ("Revoke key"), not "OK". */
  confirm: string
  onConfirm: () => Promise<unknown> | unknown
  /** Has to be typed first; for what cannot be undone. */
  typed?: string
  danger?: boolean
}

/** Asks before something is done, and shows why it could not be. Closes by itself once it is. */
export function ConfirmDialog({
  open,
  onClose,
  title,
  children,
  confirm,
  onConfirm,
  typed,
  danger = true,
}: ConfirmDialogProps) {
  const [text, setText] = useState('')
  const [state, setState] = useState<{ busy: boolean; error: unknown }>({ busy: false, error: null })
  const close = () => {
    setText('')
    setState({ busy: false, error: null })
    onClose()
  }
  const submit = async () => {
    if (typed !== undefined && text.trim() !== typed) return
    setState({ busy: true, error: null })
    try {
      await onConfirm()
      close()
    } catch (error) {
      setState({ busy: false, error })
    }
  }
  return (
    <Dialog
      open={open}
      onClose={close}
      title={title}
      size="s"
      onSubmit={submit}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            type="submit"
            kind={danger ? 'danger' : 'primary'}
            busy={state.busy}
            disabled={typed !== undefined && text.trim() !== typed}
          >
            {confirm}
          </Button>
        </>
      }
    >
      <div className={styles.words}>{children}</div>
      {typed !== undefined && (
        <TextInput
          label={
            <>
              Type <bdi className="mono">{typed}</bdi> to go on
            </>
          }
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
      )}
      {state.error !== null && (
        <div role="alert">
          <Notice tone="bad">{wordsOf(state.error)}</Notice>
        </div>
      )}
    </Dialog>
  )
}
