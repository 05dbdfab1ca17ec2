import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { safeNext } from '../../lib/next.ts'
import { useSearchParam } from '../../lib/url.ts'
import { FramedPage } from '../../ui/framed-page.tsx'
import { PasswordForm } from './password-form.tsx'
import { SecondFactorForm } from './second-factor-form.tsx'

/** Signing in: password or passkey, then the second factor where there is one, then back to where one wanted to go. */
export function SignInPage() {
  const [next] = useSearchParam('next')
  // A one-time link stands for the password: what is left is the second factor.
  const [begin] = useSearchParam('step')
  const [step, setStep] = useState<'password' | 'second_factor'>(begin === 'code' ? 'second_factor' : 'password')
  const client = useQueryClient()
  const navigate = useNavigate()
  const onStep = (after: 'done' | 'second_factor') => {
    if (after === 'second_factor') return setStep('second_factor')
    client.clear()
    void navigate({ href: safeNext(next), replace: true })
  }
  if (step === 'second_factor') {
    return (
      <FramedPage title="One more step" detail="Enter the six-digit code from your authenticator app.">
        <SecondFactorForm onStep={onStep} onBack={() => setStep('password')} />
      </FramedPage>
    )
  }
  return (
    <FramedPage
      title="Sign in"
      detail={next ? 'Sign in to go on to the page you asked for.' : 'Welcome back.'}
      foot="Forgotten your password, or no account? Ask an admin of your workspace for a link."
    >
      <PasswordForm onStep={onStep} />
    </FramedPage>
  )
}
