import { useState } from 'react'
import { emailError } from '../../lib/email.ts'
import { useForm } from '../../lib/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { TextInput } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Notice } from '../../ui/states.tsx'
import styles from './sign-in.module.css'
import { signInError, useAskForReset } from './sign-in.queries.ts'

/** Asks for a link by email to set a new password. */
export function ForgotForm({ onBack }: { onBack: () => void }) {
  const [sentTo, setSentTo] = useState<string | null>(null)
  const form = useForm({
    first: { email: '' },
    check: ({ email }) => ({ email: emailError(email) }),
    action: useAskForReset(),
    input: ({ email }) => email.trim(),
    onDone: (_, { email }) => setSentTo(email.trim()),
    explain: (error) => ({ form: signInError(error, 'Enter your email address.') }),
  })
  return (
    <Form form={form} guarded={false}>
      {sentTo === null ? (
        <>
          <TextInput
            label="Email address"
            name="email"
            type="email"
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            autoFocus
            {...form.text('email')}
          />
          <Button type="submit" kind="primary" size="l" fullWidth busy={form.isPending}>
            Send link
          </Button>
        </>
      ) : (
        <Notice tone="good" title="Look into your inbox.">
          If <bdi>{sentTo}</bdi> has an account, a link to set a new password is on its way. It works for 30 minutes.
        </Notice>
      )}
      <div className={styles.links}>
        <button type="button" className="link" onClick={onBack}>
          Back to sign-in
        </button>
      </div>
    </Form>
  )
}
