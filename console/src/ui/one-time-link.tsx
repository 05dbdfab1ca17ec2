import type { ReactNode } from 'react'
import { formatTime } from '../lib/format.ts'
import { useLast } from '../lib/last.ts'
import { CopyField } from './copy-field.tsx'
import { FirmDialog } from './firm-dialog.tsx'
import { Notice } from './states.tsx'

interface OneTimeLinkProps {
  /** Nothing is shown while null. */
  link: { url: string; expires_at: string; mailed: boolean } | null
  onClose: () => void
  title: string
  /** What the link allows its recipient to do. */
  children: ReactNode
}

/** A one-time link, shown only once. To share, unless it is also sent by email. */
export function OneTimeLink({ link, onClose, title, children }: OneTimeLinkProps) {
  const shown = useLast(link)
  return (
    <FirmDialog
      open={link !== null}
      onClose={onClose}
      title={title}
      detail={children}
      {...(shown?.mailed ? { isSaved: true } : {})}
      lost="Without the link, the person cannot continue. You would have to create a new one."
    >
      {shown && (
        <>
          <CopyField label="Link" text={shown.url} detail={`Works once. Expires ${formatTime(shown.expires_at)}.`} />
          {shown.mailed ? (
            <Notice tone="good">It is also sent by email. You do not have to share it. It is not shown again.</Notice>
          ) : (
            <Notice tone="warn">
              It is not sent by email. Copy the link and share it over a private channel. It is not shown again.
            </Notice>
          )}
        </>
      )}
    </FirmDialog>
  )
}
