import type { ReactNode } from 'react'
import { formatTime } from '../lib/format.ts'
import { useLast } from '../lib/last.ts'
import { Button } from './button.tsx'
import { CopyField } from './copy-field.tsx'
import { Dialog } from './dialog.tsx'
import { Notice } from './states.tsx'

interface LinkOnceProps {
  /** Nothing is shown while null. */
  link: { url: string; expires_at: string } | null
  onClose: () => void
  title: string
  /** What whoever opens it may do. */
  children: ReactNode
}

/** A one-time link, shown this once, for a person to hand on: the service sends no mail. */
export function LinkOnce({ link, onClose, title, children }: LinkOnceProps) {
  const shown = useLast(link)
  return (
    <Dialog
      open={link !== null}
      onClose={onClose}
      firm
      title={title}
      detail={children}
      actions={
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      {shown && (
        <>
          <CopyField label="Link" text={shown.url} detail={`Works once, until ${formatTime(shown.expires_at)}.`} />
          <Notice tone="warn">
            No mail is sent: hand it over yourself, in a way that only they can read. It is not shown again.
          </Notice>
        </>
      )}
    </Dialog>
  )
}
