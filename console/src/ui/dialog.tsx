import { FocusTrap, Modal } from '@mantine/core'
import { type ComponentProps, type ReactNode, useLayoutEffect } from 'react'
import { useLeaveGuard } from '../lib/leave-guard.ts'
import type { Action } from '../lib/use-action.ts'
import { type Form as FormState, useForm } from '../lib/use-form.ts'
import { Button, IconButton } from './button.tsx'
import styles from './dialog.module.css'
import { TextInput } from './fields.tsx'
import { Form, FormError } from './form.tsx'
import type { IconName } from './icon.tsx'
import { useLayer } from './layers.ts'

interface FrameProps {
  open?: boolean
  onClose: () => void
  title: string
  detail?: ReactNode
  children?: ReactNode
  size?: 's' | 'm' | 'l'
}

interface DialogProps extends FrameProps {
  /** Buttons at the bottom. */
  actions?: ReactNode
  /** Prevents closing by accident: no close button, and Esc, a click outside or Back do not close it. See FirmDialog. */
  firm?: boolean
  /** With `firm`: asked before the page is left by Back or a link. */
  mayLeave?: () => boolean
}

const widths = { s: 400, m: 520, l: 720 }

/** A dialog. It opens above everything else, traps the focus and returns it on closing. Esc closes it. */
export function Dialog({ actions, children, ...frame }: DialogProps) {
  return (
    <Frame {...frame}>
      {/* Focuses the dialog itself. A FormDialog focuses its first field instead. */}
      <FocusTrap.InitialFocus />
      <div className={styles.body}>{children}</div>
      {actions && <footer className={styles.foot}>{actions}</footer>}
    </Frame>
  )
}

interface FormDialogProps<Values> extends FrameProps {
  form: FormState<Values>
  /** The label of the button. */
  submit: string
  icon?: IconName
  danger?: boolean
  disabled?: boolean
  close?: string
  /** Asks before edits are lost, even on closing. */
  guarded?: boolean
}

/** A form in a dialog, reset each time it opens. Errors that belong to no field are shown above the buttons. */
export function FormDialog<Values>({
  form,
  submit,
  icon,
  danger = false,
  disabled = false,
  close = 'Cancel',
  guarded = true,
  children,
  ...frame
}: FormDialogProps<Values>) {
  const { open = true } = frame
  // biome-ignore lint/correctness/useExhaustiveDependencies: only opening resets it
  useLayoutEffect(() => {
    if (open) form.reset()
  }, [open])
  const onClose = async () => {
    if (!guarded || (await form.mayDiscard())) frame.onClose()
  }
  return (
    <Frame {...frame} onClose={onClose}>
      <Form form={form} disabled={disabled || !open} guarded={guarded && open} ownError>
        <div className={styles.body}>{children}</div>
        <footer className={styles.foot}>
          <FormError form={form} />
          <Button onClick={onClose}>{close}</Button>
          <Button
            type="submit"
            kind={danger ? 'danger' : 'primary'}
            busy={form.isPending}
            disabled={disabled}
            {...(icon ? { icon } : {})}
          >
            {submit}
          </Button>
        </footer>
      </Form>
    </Frame>
  )
}

function Frame({
  open = true,
  onClose,
  title,
  detail,
  children,
  size = 'm',
  firm = false,
  mayLeave = () => false,
}: FrameProps & Pick<DialogProps, 'firm' | 'mayLeave'>) {
  useReturnFocus(open)
  useLeaveGuard(open && firm, mayLeave)
  const layer = useLayer(open, { firm })
  return (
    <Modal.Root opened={open} onClose={onClose} size={widths[size]} centered closeOnClickOutside={!firm} {...layer}>
      <Modal.Overlay />
      <Modal.Content>
        <header className={styles.head}>
          <div>
            <Modal.Title className={styles.title ?? ''}>{title}</Modal.Title>
            {detail && <div className={styles.detail}>{detail}</div>}
          </div>
        </header>
        {children}
        {!firm && (
          <div className={styles.close}>
            <IconButton icon="cross" label="Close" onClick={onClose} />
          </div>
        )}
      </Modal.Content>
    </Modal.Root>
  )
}

/** The element that opened the first of several dialogs: the button that opened a later one disappears with its dialog. */
let pageOpener: HTMLElement | null = null

/** Only the last dialog that closed returns the focus, and none once another one has opened. */
let returning: ReturnType<typeof setTimeout> | undefined

/** Returns the focus to the element that opened a dialog, even if the dialog is unmounted; for a menu item, to the menu's button. */
export function useReturnFocus(open: boolean): void {
  useLayoutEffect(() => {
    if (!open) return
    clearTimeout(returning)
    const active = document.activeElement as HTMLElement | null
    const menu = active?.closest('[role="menu"]')
    const opener = menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : active
    if (opener && opener !== document.body && !opener.closest('[role="dialog"]')) pageOpener = opener
    // The focus is lost when the dialog disappears, which takes longer on a slow machine. Elsewhere, a person has moved it.
    const giveBack = (checksLeft: number) => {
      const focused = document.activeElement
      if (focused === document.body) {
        if (opener?.isConnected && opener !== document.body) opener.focus()
        else pageOpener?.focus()
      } else if (checksLeft > 0 && focused?.closest('[role="dialog"]')) {
        returning = setTimeout(giveBack, 100, checksLeft - 1)
      }
    }
    return () => {
      clearTimeout(returning)
      returning = setTimeout(giveBack, 250, 30)
    }
  }, [open])
}

interface ConfirmDialogProps<Input, Result> extends Omit<FrameProps, 'size'> {
  children: ReactNode
  /** The label of the button: name the action ("Revoke key"), not "OK". */
  confirm: string
  action: Action<Input, Result>
  /** The input of the action; null only while the dialog is closed. */
  input: Input | null | undefined
  onDone?: (result: Result) => void
  /** Has to be typed to confirm; for actions that cannot be undone. */
  typed?: string
  danger?: boolean
}

/** Asks for confirmation, runs the action, and closes on success. Shows the error if it failed. */
export function ConfirmDialog<Input, Result>({
  children,
  confirm,
  action,
  input,
  onDone,
  typed,
  danger = true,
  ...frame
}: ConfirmDialogProps<Input, Result>) {
  const form = useForm({
    first: { typed: '' },
    action,
    input: () => input as Input,
    onDone: (result) => {
      frame.onClose()
      onDone?.(result)
    },
  })
  const isReady = typed === undefined || form.values.typed.trim() === typed.trim()
  return (
    <FormDialog {...frame} size="s" form={form} submit={confirm} danger={danger} disabled={!isReady} guarded={false}>
      <div className={styles.words}>{children}</div>
      {typed !== undefined && <TypedName name={typed} {...form.text('typed')} data-autofocus />}
    </FormDialog>
  )
}

/** A name that has to be typed before an action that cannot be undone. */
export const TypedName = ({ name, ...field }: { name: string } & ComponentProps<typeof TextInput>) => (
  <TextInput
    label={
      <>
        Type <bdi className="mono">{name}</bdi> to confirm
      </>
    }
    autoComplete="off"
    spellCheck={false}
    {...field}
  />
)
