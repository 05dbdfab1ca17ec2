import { useState } from 'react'
import { ApiError } from '../../lib/api.ts'
import { useForm } from '../../lib/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { CopyField } from '../../ui/copy-field.tsx'
import { Dialog, FormDialog } from '../../ui/dialog.tsx'
import { TextInput } from '../../ui/fields.tsx'
import styles from './account.module.css'
import { type NewAuthenticator, useVerifyAuthenticator } from './account.queries.ts'
import { BackupCodes } from './backup-codes.tsx'
import { QrCode } from './qr-code.tsx'

/** Two steps: a first code proves that the app has the secret; then the codes for the day the phone is lost. */
export function AuthenticatorSetup({ made, onClose }: { made: NewAuthenticator; onClose: () => void }) {
  const [isOn, setOn] = useState(false)
  const form = useForm({
    first: { code: '' },
    check: ({ code }) => ({ code: isCode(code) ? undefined : 'The code has six digits.' }),
    action: useVerifyAuthenticator(),
    input: ({ code }) => plain(code),
    onDone: () => setOn(true),
    explain: (error) =>
      error instanceof ApiError && error.code === 'wrong_credentials'
        ? { code: 'That code is not right. Wait for the next one.' }
        : undefined,
  })
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
    <FormDialog
      onClose={onClose}
      title="Set up an authenticator app"
      detail="Scan this with 1Password, Google Authenticator, Aegis or any other, then enter the code it shows."
      form={form}
      submit="Turn it on"
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
            {...form.text('code')}
            classNames={{ input: styles.codeInput ?? '' }}
            data-autofocus
            onChange={(event) => {
              const code = event.currentTarget.value
              form.set({ code })
              if (isCode(code)) form.submit({ code })
            }}
          />
        </div>
      </div>
    </FormDialog>
  )
}

const plain = (code: string) => code.replace(/\s/g, '')
const isCode = (code: string) => /^\d{6}$/.test(plain(code))
