import { browserSupportsWebAuthn } from '@simplewebauthn/browser'
import { type FormEvent, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { focusFirstFault, PasswordInput, TextInput } from '../../ui/fields.tsx'
import { Notice } from '../../ui/states.tsx'
import styles from './sign-in.module.css'
import { refusalWords, signIn, signInWithPasskey, wasCancelled } from './sign-in.queries.ts'

interface Faults {
  email?: string
  password?: string
  form?: string
}

export function PasswordForm({ onStep }: { onStep: (next: 'done' | 'second_factor') => void }) {
  const form = useRef<HTMLFormElement>(null)
  const [busy, setBusy] = useState<'password' | 'passkey' | null>(null)
  const [faults, setFaults] = useState<Faults>({})

  const refuse = (next: Faults) => {
    setBusy(null)
    setFaults(next)
    focusFirstFault(form.current)
  }
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (busy) return
    const fields = new FormData(event.currentTarget)
    const email = String(fields.get('email')).trim()
    const password = String(fields.get('password'))
    const missing: Faults = {
      ...(email ? {} : { email: 'Enter your e-mail address.' }),
      ...(password ? {} : { password: 'Enter your password.' }),
    }
    if (missing.email || missing.password) return refuse(missing)
    setFaults({})
    setBusy('password')
    try {
      onStep((await signIn(email, password)).next)
      setBusy(null)
    } catch (error) {
      refuse({ form: refusalWords(error, 'The e-mail address or the password is not right.') })
    }
  }
  const withPasskey = async () => {
    setFaults({})
    setBusy('passkey')
    try {
      onStep((await signInWithPasskey()).next)
    } catch (error) {
      if (wasCancelled(error)) setBusy(null)
      else refuse({ form: refusalWords(error, 'This passkey is not known here. Sign in with your password.') })
    }
  }
  return (
    <form ref={form} onSubmit={submit} noValidate>
      <div role="alert">{faults.form && <Notice tone="bad">{faults.form}</Notice>}</div>
      <TextInput
        label="E-mail address"
        name="email"
        type="email"
        autoComplete="username webauthn"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
        error={faults.email}
      />
      <PasswordInput label="Password" name="password" autoComplete="current-password" error={faults.password} />
      <Button type="submit" kind="primary" size="l" fullWidth busy={busy === 'password'}>
        Sign in
      </Button>
      {browserSupportsWebAuthn() && (
        <>
          <div className={styles.or}>or</div>
          <Button icon="passkey" size="l" fullWidth busy={busy === 'passkey'} onClick={withPasskey}>
            Use a passkey
          </Button>
        </>
      )}
    </form>
  )
}
