import { useEffect, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import styles from './secret-once.module.css'
import { Notice } from './states.tsx'

interface SecretOnceProps {
  label: string
  secret: string
  /** The variable's name in the .env file: PARLEY_API_KEY. */
  variable: string
  /** Told once the person has taken the secret, by copying or by downloading. */
  onTaken?: () => void
}

/** A secret shown this one time: hidden until looked at, copied or downloaded; leaving the page before asks first. */
export function SecretOnce({ label, secret, variable, onTaken }: SecretOnceProps) {
  const [shown, setShown] = useState(false)
  useEffect(() => {
    const onLeave = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', onLeave)
    return () => removeEventListener('beforeunload', onLeave)
  }, [])
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
        <Button icon="download" onClick={() => download('.env', `${variable}=${secret}\n`)}>
          Download .env
        </Button>
      </div>
      <Notice tone="warn">
        Keep it somewhere safe now. It is not stored in readable form and cannot be shown again.
      </Notice>
    </div>
  )
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
