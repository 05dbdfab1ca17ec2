import type { ReactNode } from 'react'
import { passwordStrength } from '../lib/password.ts'
import { PasswordInput } from './fields.tsx'
import styles from './new-password.module.css'

interface NewPasswordProps {
  label?: string
  name?: string
  value: string
  onChange: (value: string) => void
  error?: ReactNode
}

/** A field for a new password that shows how strong it is. */
export function NewPassword({ label = 'Password', name = 'password', value, onChange, error }: NewPasswordProps) {
  const { level, label: strength } = passwordStrength(value)
  return (
    <div>
      <PasswordInput
        label={label}
        name={name}
        autoComplete="new-password"
        {...({ passwordrules: 'minlength: 15; maxlength: 128;' } as object)}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        error={error}
      />
      <div className={styles.meter} data-level={level} aria-hidden="true">
        <span />
        <span />
        <span />
        <span />
      </div>
      <p className={styles.words} aria-live="polite">
        {strength}
      </p>
    </div>
  )
}
