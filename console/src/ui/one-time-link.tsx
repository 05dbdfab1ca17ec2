import type { ReactNode } from 'react'
import { formatTime } from '../lib/format.ts'
import { useLast } from '../lib/last.ts'
import { CopyField } from './copy-field.tsx'
import { FirmDialog } from './firm-dialog.tsx'
import { Notice } from './states.tsx'

interface OneTimeLinkProps {
  /** Nothing is shown while null. */
  link: { url: string | null; expires_at: string } | null
  onClose: () => void
  /** What the link allows its recipient to do. */
  children: ReactNode
}

/** A one-time link: shown only once, to share, or sent by email and not shown. */
export function OneTimeLink({ link, onClose, children }: OneTimeLinkProps) {
  const shown = useLast(link)
  const isMailed = shown?.url === null
  return (
    <FirmDialog
      open={link !== null}
      onClose={onClose}
      title={isMailed ? 'The link is sent by email' : 'Share this link'}
      detail={children}
      {...(isMailed ? { isSaved: true } : {})}
      lost="Without the link, the person cannot continue. You would have to create a new one."
    >
      {shown?.url === null && (
        <Notice tone="good">
          Only the owner of the email address gets it. It works once and expires {formatTime(shown.expires_at)}.
        </Notice>
      )}
      {shown?.url && (
        <>
          <CopyField label="Link" text={shown.url} detail={`Works once. Expires ${formatTime(shown.expires_at)}.`} />
          <Notice tone="warn">
            It is not sent by email. Copy the link and share it over a private channel. It is not shown again.
          </Notice>
        </>
      )}
    </FirmDialog>
  )
}
