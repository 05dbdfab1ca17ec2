import { useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { Button } from '../../ui/button.tsx'
import { CopyField } from '../../ui/copy-field.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextInput } from '../../ui/fields.tsx'
import styles from './account.module.css'
import { type NewAuthenticator, verifyAuthenticator } from './account.queries.ts'
import { BackupCodes } from './backup-codes.tsx'
import { QrCode } from './qr-code.tsx'

/** Two steps: a first code proves that the app has the secret; then the codes for the day the phone is lost. */
export function AuthenticatorSetup({ made, onClose }: { made: NewAuthenticator; onClose: () => void }) {
  const [isOn, setOn] = useState(false)
  const [code, setCode] = useState('')
  const [state, setState] = useState<{ busy: boolean; fault: string | null }>({ busy: false, fault: null })

  const verify = async (text: string) => {
    const plain = text.replace(/\s/g, '')
    if (state.busy) return
    if (!/^\d{6}$/.test(plain)) return setState({ busy: false, fault: 'The code has six digits.' })
    setState({ busy: true, fault: null })
    try {
      await verifyAuthenticator(plain)
      setOn(true)
    } catch (error) {
      const isWrong = error instanceof ApiError && error.code === 'wrong_credentials'
      setState({ busy: false, fault: isWrong ? 'That code is not right. Wait for the next one.' : wordsOf(error) })
    }
  }
  if (isOn) {
    return (
      <Dialog
        open
        firm
        onClose={onClose}
        title="It is on. Keep your backup codes."
        detail="When your phone is not at hand, one of these stands for a code from the app."
        actions={
          <Button kind="primary" onClick={onClose}>
            I have kept them
          </Button>
        }
      >
        <BackupCodes codes={made.backup_codes} />
      </Dialog>
    )
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title="Set up an authenticator app"
      detail="Scan this with 1Password, Google Authenticator, Aegis or any other, then enter the code it shows."
      onSubmit={() => void verify(code)}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={state.busy}>
            Turn it on
          </Button>
        </>
      }
    >
      <div className={styles.scan}>
        <QrCode text={made.uri} label="QR code for your authenticator app; the same as the key in text beside it" />
        <div className={styles.scanWords}>
          <CopyField
            label="Or enter this key"
            text={made.secret}
            shown={made.secret.replace(/(.{4})(?=.)/g, '$1 ')}
            detail="Time based, six digits."
          />
          <TextInput
            label="Code from the app"
            inputMode="numeric"
            autoComplete="one-time-code"
            placeholder="123456"
            value={code}
            error={state.fault}
            classNames={{ input: styles.codeInput ?? '' }}
            data-autofocus
            onChange={(event) => {
              const text = event.currentTarget.value
              setCode(text)
              setState({ busy: false, fault: null })
              if (/^\d{6}$/.test(text.replace(/\s/g, ''))) void verify(text)
            }}
          />
        </div>
      </div>
    </Dialog>
  )
}
