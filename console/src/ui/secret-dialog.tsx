import { type ReactNode, useState } from 'react'
import { saveFile } from '../lib/download.ts'
import { Button, IconButton } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { FirmDialog } from './firm-dialog.tsx'
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
  /** The consequence of losing it. */
  lost: string
  /** Above the secret. */
  notice?: ReactNode
  /** Below the secret: how to use it. */
  children: ReactNode
}

/** A secret that is shown only once. It is masked until revealed; closing it without copying or downloading asks first. */
export function SecretDialog({ notice, lost, children, label, secret, variable, ...frame }: SecretDialogProps) {
  const [isSaved, setSaved] = useState(false)
  return (
    <FirmDialog {...frame} size="l" isSaved={isSaved} lost={`You have not copied or downloaded the secret. ${lost}`}>
      <Stack gap={5}>
        {notice}
        <Secret label={label} secret={secret} variable={variable} onSaved={() => setSaved(true)} />
        <Stack gap={2}>{children}</Stack>
      </Stack>
    </FirmDialog>
  )
}

interface SecretProps extends Pick<SecretDialogProps, 'label' | 'secret' | 'variable'> {
  onSaved: () => void
}

function Secret({ label, secret, variable, onSaved }: SecretProps) {
  const [shown, setShown] = useState(false)
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
      {/* biome-ignore lint/a11y/noStaticElementInteractions: notes that one of the buttons inside was clicked */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: pressing a button by key fires a click too */}
      <div className={styles.actions} onClick={onSaved}>
        <CopyButton text={secret}>Copy</CopyButton>
        <Button icon="download" onClick={() => saveFile(new Blob([`${variable}=${secret}\n`]), '.env')}>
          Download .env
        </Button>
      </div>
      <Notice tone="warn">Store it in a safe place now. You cannot view it again.</Notice>
    </div>
  )
}
