import { useState } from 'react'
import { ApiError } from '../../lib/api.ts'
import { passwordProblem } from '../../lib/password.ts'
import { useSession } from '../../lib/session.ts'
import { useForm } from '../../lib/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { PasswordInput } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Section } from '../../ui/layout.tsx'
import { NewPassword } from '../../ui/new-password.tsx'
import styles from './account.module.css'
import { useChangePassword } from './account.queries.ts'

export function PasswordSection() {
  const { person } = useSession()
  const [open, setOpen] = useState(false)
  const close = () => {
    setOpen(false)
    form.reset()
  }
  const form = useForm({
    first: { current: '', next: '' },
    check: ({ current, next }) => ({
      current: current ? undefined : 'Enter your current password.',
      next: passwordProblem(next) ?? undefined,
    }),
    action: useChangePassword(),
    input: (passwords) => passwords,
    onDone: close,
    explain: (error) => {
      if (!(error instanceof ApiError)) return undefined
      if (error.code === 'wrong_credentials') return { current: 'Wrong password.' }
      return error.param === 'password' ? { next: error.message } : undefined
    },
  })
  return (
    <Section title="Password" detail="Changing your password signs out all your other devices.">
      {open ? (
        <Form form={form} className={styles.form}>
          <input type="hidden" autoComplete="username" value={person.email} readOnly />
          <PasswordInput label="Current password" autoComplete="current-password" {...form.text('current')} autoFocus />
          <NewPassword label="New password" {...form.field('next')} />
          <div className={styles.buttons}>
            <Button type="submit" kind="primary" busy={form.isPending}>
              Change password
            </Button>
            <Button onClick={close}>Cancel</Button>
          </div>
        </Form>
      ) : (
        <div className={styles.buttons}>
          <Button icon="lock" onClick={() => setOpen(true)}>
            Change password
          </Button>
        </div>
      )}
    </Section>
  )
}
