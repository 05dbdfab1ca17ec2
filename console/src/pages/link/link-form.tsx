import type { LinkReply, NextStep } from '@parley/contract/console/session'
import { ApiError } from '../../lib/api.ts'
import { emailError } from '../../lib/email.ts'
import { passwordProblem } from '../../lib/password.ts'
import { useForm } from '../../lib/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { PasswordInput, TextInput } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { NewPassword } from '../../ui/new-password.tsx'
import { useFollowLink } from './link.queries.ts'

const entries = { setup: 'Create the account', invite: 'Join', reset: 'Set the password' }

export function LinkForm({
  token,
  link,
  onStep,
}: {
  token: string
  link: LinkReply
  onStep: (next: NextStep['next']) => void
}) {
  // Who has an account already shows that it is theirs; everybody else, and a reset, chooses a password.
  const isKnown = link.kind === 'invite' && link.has_account
  const asksName = link.kind !== 'reset' && !link.has_account

  const asksEmail = link.email === null && link.kind !== 'reset'
  const form = useForm({
    first: { name: '', email: link.email ?? '', password: '' },
    check: ({ name, email, password }) => ({
      name: asksName && !name.trim() ? 'Enter your name.' : undefined,
      email: asksEmail ? emailError(email) : undefined,
      password: isKnown ? (password ? undefined : 'Enter your password.') : (passwordProblem(password) ?? undefined),
    }),
    action: useFollowLink(token),
    input: ({ name, email, password }) => ({
      password,
      ...(asksName ? { name: name.trim() } : {}),
      ...(asksEmail ? { email: email.trim() } : {}),
    }),
    onDone: ({ next }) => onStep(next),
    explain: (error) =>
      error instanceof ApiError && error.code === 'wrong_credentials'
        ? { password: 'That is not the password of this account.' }
        : undefined,
  })
  return (
    <Form form={form}>
      {asksName && <TextInput label="Your name" name="name" autoComplete="name" {...form.text('name')} autoFocus />}
      {(link.email !== null || link.kind !== 'reset') && (
        <TextInput
          label="E-mail address"
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
          description="You have an account here already; sign in to join with it."
          name="password"
          autoComplete="current-password"
          {...form.text('password')}
        />
      ) : (
        <NewPassword label={link.kind === 'reset' ? 'New password' : 'Password'} {...form.field('password')} />
      )}
      <Button type="submit" kind="primary" size="l" fullWidth busy={form.isPending}>
        {entries[link.kind]}
      </Button>
    </Form>
  )
}
