import type { LinkReply, NextStep } from '@parley/contract/console/session'
import { type FormEvent, useRef, useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { passwordFault } from '../../lib/password.ts'
import { Button } from '../../ui/button.tsx'
import { focusFirstFault, PasswordInput, TextInput } from '../../ui/fields.tsx'
import { NewPassword } from '../../ui/new-password.tsx'
import { Notice } from '../../ui/states.tsx'
import { followLink } from './link.queries.ts'

interface Faults {
  name?: string | undefined
  email?: string | undefined
  password?: string | undefined
  form?: string | undefined
}

const deeds = { setup: 'Create the account', invite: 'Join', reset: 'Set the password' }

export function LinkForm({
  token,
  link,
  onStep,
}: {
  token: string
  link: LinkReply
  onStep: (next: NextStep['next']) => void
}) {
  const form = useRef<HTMLFormElement>(null)
  const [name, setName] = useState('')
  const [email, setEmail] = useState(link.email ?? '')
  const [password, setPassword] = useState('')
  const [busy, setBusy] = useState(false)
  const [faults, setFaults] = useState<Faults>({})
  // Who has an account already shows that it is theirs; everybody else, and a reset, chooses a password.
  const isKnown = link.kind === 'invite' && link.has_account
  const asksName = link.kind !== 'reset' && !link.has_account

  const refuse = (next: Faults) => {
    setBusy(false)
    setFaults(next)
    focusFirstFault(form.current)
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    const missing: Faults = {
      name: asksName && !name.trim() ? 'Enter your name.' : undefined,
      email:
        /^\S+@\S+$/.test(email.trim()) || link.email !== null || link.kind === 'reset'
          ? undefined
          : 'Enter an e-mail address, such as ana@example.com.',
      password: isKnown ? (password ? undefined : 'Enter your password.') : (passwordFault(password) ?? undefined),
    }
    if (missing.name || missing.email || missing.password) return refuse(missing)
    setBusy(true)
    setFaults({})
    try {
      const { next } = await followLink(token, {
        password,
        ...(asksName ? { name: name.trim() } : {}),
        ...(link.email === null && link.kind !== 'reset' ? { email: email.trim() } : {}),
      })
      onStep(next)
    } catch (error) {
      if (!(error instanceof ApiError)) return refuse({ form: wordsOf(error) })
      const named = { name: error.faultOf('name'), email: error.faultOf('email'), password: error.faultOf('password') }
      if (error.code === 'wrong_credentials') refuse({ password: 'That is not the password of this account.' })
      else if (named.name || named.email || named.password) refuse(named)
      else refuse({ form: error.message })
    }
  }
  return (
    <form ref={form} onSubmit={submit} noValidate>
      <div role="alert">{faults.form && <Notice tone="bad">{faults.form}</Notice>}</div>
      {asksName && (
        <TextInput
          label="Your name"
          name="name"
          autoComplete="name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={faults.name}
          autoFocus
        />
      )}
      {(link.email !== null || link.kind !== 'reset') && (
        <TextInput
          label="E-mail address"
          name="email"
          type="email"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          readOnly={link.email !== null}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={faults.email}
        />
      )}
      {isKnown ? (
        <PasswordInput
          label="Your password"
          description="You have an account here already; sign in to join with it."
          name="password"
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={faults.password}
        />
      ) : (
        <NewPassword
          label={link.kind === 'reset' ? 'New password' : 'Password'}
          value={password}
          onChange={setPassword}
          error={faults.password}
        />
      )}
      <Button type="submit" kind="primary" size="l" fullWidth busy={busy}>
        {deeds[link.kind]}
      </Button>
    </form>
  )
}
