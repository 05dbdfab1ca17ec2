import type { LinkReply, NextStep } from '@parley/contract/console/session'
import { useState } from 'react'
import { ApiError } from '../../lib/api.ts'
import { emailError } from '../../lib/email.ts'
import { passwordProblem } from '../../lib/password.ts'
import { useForm } from '../../lib/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { PasswordInput, TextInput } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { NewPassword } from '../../ui/new-password.tsx'
import { useFollowLink } from './link.queries.ts'

const submitLabels = { setup: 'Create account', invite: 'Join', reset: 'Set password' }

export function LinkForm({
  token,
  link,
  onStep,
}: {
  token: string
  link: LinkReply
  onStep: (next: NextStep['next']) => void
}) {
  // The service does not say whether the email address has an account, so the person does.
  const [isKnown, setKnown] = useState(false)
  const needsName = link.kind !== 'reset' && !isKnown
  const needsEmail = link.email === null && link.kind !== 'reset'
  const form = useForm({
    first: { name: '', email: link.email ?? '', password: '' },
    check: ({ name, email, password }) => ({
      name: needsName && !name.trim() ? 'Enter your name.' : undefined,
      email: needsEmail ? emailError(email) : undefined,
      password: isKnown ? (password ? undefined : 'Enter your password.') : (passwordProblem(password) ?? undefined),
    }),
    action: useFollowLink(token),
    input: ({ name, email, password }) => ({
      password,
      ...(needsName ? { name: name.trim() } : {}),
      ...(needsEmail ? { email: email.trim() } : {}),
    }),
    onDone: ({ next }) => onStep(next),
    explain: (error) =>
      error instanceof ApiError && error.code === 'wrong_credentials' ? { password: error.message } : undefined,
  })
  return (
    <Form form={form} guarded={false}>
      {needsName && <TextInput label="Your name" name="name" autoComplete="name" {...form.text('name')} autoFocus />}
      {(link.email !== null || link.kind !== 'reset') && (
        <TextInput
          label="Email address"
          name="email"
          type="email"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          readOnly={link.email !== null}
          {...form.text('email')}
        />
      )}
      {isKnown ? (
        <PasswordInput
          label="Your password"
          name="password"
          autoComplete="current-password"
          {...form.text('password')}
        />
      ) : (
        <NewPassword label={link.kind === 'reset' ? 'New password' : 'Password'} {...form.field('password')} />
      )}
      {isKnown && link.kind === 'invite' && (
        <p className="small quiet">If you are already a member, you keep your role unless this one is higher.</p>
      )}
      <Button type="submit" kind="primary" size="l" fullWidth busy={form.isPending}>
        {isKnown ? 'Join' : submitLabels[link.kind]}
      </Button>
      {link.kind !== 'reset' && (
        <button type="button" className="link" onClick={() => setKnown(!isKnown)}>
          {isKnown ? 'Create a new account' : 'I already have an account'}
        </button>
      )}
    </Form>
  )
}
