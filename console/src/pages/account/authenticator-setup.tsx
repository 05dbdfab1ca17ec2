import { useState } from 'react'
import { ApiError } from '../../lib/api.ts'
import { useForm } from '../../lib/use-form.ts'
import { CopyField } from '../../ui/copy-field.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextInput } from '../../ui/fields.tsx'
import styles from './account.module.css'
import { type NewAuthenticator, useVerifyAuthenticator } from './account.queries.ts'
import { BackupCodesDialog } from './backup-codes.tsx'
import { QrCode } from './qr-code.tsx'

/** Two steps: a first code proves that the app has the secret, then the backup codes are shown. */
export function AuthenticatorSetup({ setup, onClose }: { setup: NewAuthenticator; onClose: () => void }) {
  const [isOn, setOn] = useState(false)
  const form = useForm({
    first: { code: '' },
    check: ({ code }) => ({ code: isCode(code) ? undefined : 'Enter the 6-digit code.' }),
    action: useVerifyAuthenticator(),
    input: ({ code }) => plain(code),
    onDone: () => setOn(true),
    explain: (error) =>
      error instanceof ApiError && error.code === 'wrong_credentials'
        ? { code: 'Wrong code. Wait for the next one and try again.' }
        : undefined,
  })
  if (isOn) {
    return (
      <BackupCodesDialog
        codes={setup.backup_codes}
        onClose={onClose}
        title="Save your backup codes"
        detail="The authenticator app is on. If you lose your phone, sign in with one of these codes."
      />
    )
  }
  return (
    <FormDialog
      onClose={onClose}
      title="Set up an authenticator app"
      detail="Scan the QR code with 1Password, Google Authenticator, Aegis or a similar app, then enter the code it shows."
      form={form}
      submit="Turn on"
      guarded={false}
    >
      <div className={styles.scan}>
        <QrCode
          text={setup.uri}
          label="QR code for your authenticator app. The setup key next to it has the same content."
        />
        <div className={styles.scanWords}>
          <CopyField
            label="Setup key"
            text={setup.secret}
            shown={setup.secret.replace(/(.{4})(?=.)/g, '$1 ')}
            detail="Can’t scan? Enter this key: time-based, 6 digits."
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
