import { type ReactNode, useState } from 'react'
import { keepFile } from '../lib/download.ts'
import { useLeaveWarning } from '../lib/leave-warning.ts'
import { Button, IconButton } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'
import { Stack } from './layout.tsx'
import styles from './secret-dialog.module.css'
import { Notice } from './states.tsx'

interface SecretDialogProps {
  onClose: () => void
  title: string
  detail: ReactNode
  label: string
  secret: string
  /** The variable's name in the .env file: PARLEY_API_KEY. */
  variable: string
  /** What it means to have lost it. */
  lost: string
  /** Above the secret. */
  notice?: ReactNode
  /** Below it: how it is used. */
  children: ReactNode
}

/** A secret shown this one time: hidden until looked at, copied or downloaded; closing without either asks first. */
export function SecretDialog({ onClose, title, detail, notice, lost, children, ...secret }: SecretDialogProps) {
  const [isTaken, setTaken] = useState(false)
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Dialog
        firm
        onClose={onClose}
        size="l"
        title={title}
        detail={detail}
        actions={
          <Button kind="primary" onClick={() => (isTaken ? onClose() : setAsking(true))}>
            Done
          </Button>
        }
      >
        <Stack gap={5}>
          {notice}
          <Secret {...secret} onTaken={() => setTaken(true)} />
          <Stack gap={2}>{children}</Stack>
        </Stack>
      </Dialog>
      <Dialog
        open={isAsking}
        onClose={() => setAsking(false)}
        size="s"
        title="You won’t see this again"
        actions={
          <>
            <Button onClick={() => setAsking(false)}>Cancel</Button>
            <Button kind="danger" onClick={onClose}>
              Close without copying
            </Button>
          </>
        }
      >
        <p>The secret was neither copied nor downloaded. {lost}</p>
      </Dialog>
    </>
  )
}

interface SecretProps extends Pick<SecretDialogProps, 'label' | 'secret' | 'variable'> {
  onTaken: () => void
}

function Secret({ label, secret, variable, onTaken }: SecretProps) {
  const [shown, setShown] = useState(false)
  useLeaveWarning()
  return (
    <div className={styles.secret}>
      <div className={styles.label}>{label}</div>
      <div className={styles.row}>
        <code className={styles.value} translate="no">
          {shown ? secret : `${secret.slice(0, 10)}${'•'.repeat(24)}`}
        </code>
        <IconButton
          icon={shown ? 'eyeOff' : 'eye'}
          label={shown ? 'Hide' : 'Reveal'}
          aria-pressed={shown}
          onClick={() => setShown(!shown)}
        />
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: hears of the copying that the buttons inside do */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a button pressed by key clicks too */}
      <div className={styles.actions} onClick={onTaken}>
        <CopyButton text={secret}>Copy</CopyButton>
        <Button icon="download" onClick={() => keepFile(new Blob([`${variable}=${secret}\n`]), '.env')}>
          Download .env
        </Button>
      </div>
      <Notice tone="warn">
        Keep it somewhere safe now. It is not stored in readable form and cannot be shown again.
      </Notice>
    </div>
  )
}
