import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

interface FirmDialogProps {
  open?: boolean
  onClose: () => void
  title: string
  detail?: ReactNode
  size?: 's' | 'm' | 'l'
  /** The label of the button that closes it. */
  done?: string
  /** Whether the person has copied or downloaded it. Undefined if only they know: then Done closes, and Back asks. */
  isSaved?: boolean
  /** The consequence of losing it. */
  lost: string
  children: ReactNode
}

/** Something that is shown only once, such as a secret. Esc does not close it, and Back asks first. */
export function FirmDialog({
  open = true,
  onClose,
  title,
  detail,
  size,
  done = 'Done',
  isSaved,
  lost,
  children,
}: FirmDialogProps) {
  const [isAsking, setAsking] = useState(false)
  // `onClose` may go to another page at once, while the dialog is still shown.
  const isClosing = useRef(false)
  useEffect(() => {
    if (open) isClosing.current = false
  }, [open])
  const mayLeave = () => {
    const may = isSaved === true || isClosing.current
    if (!may) setAsking(true)
    return may
  }
  const close = () => {
    isClosing.current = true
    setAsking(false)
    onClose()
  }
  return (
    <>
      <Dialog
        firm
        open={open}
        onClose={close}
        mayLeave={mayLeave}
        title={title}
        detail={detail}
        {...(size ? { size } : {})}
        actions={
          <Button kind="primary" onClick={() => (isSaved === false ? setAsking(true) : close())}>
            {done}
          </Button>
        }
      >
        {children}
      </Dialog>
      <Dialog
        open={open && isAsking}
        onClose={() => setAsking(false)}
        size="s"
        title="You won’t see this again"
        actions={
          <>
            <Button onClick={() => setAsking(false)}>Cancel</Button>
            <Button kind="danger" onClick={close}>
              Close without copying
            </Button>
          </>
        }
      >
        <p>{lost}</p>
      </Dialog>
    </>
  )
}
