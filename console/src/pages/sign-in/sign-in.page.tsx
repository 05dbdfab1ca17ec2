import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { safeNext } from '../../lib/next.ts'
import { useSearchParam } from '../../lib/url.ts'
import { FramedPage } from '../../ui/framed-page.tsx'
import { PasswordForm } from './password-form.tsx'
import { SecondFactorForm } from './second-factor-form.tsx'

/** Password or passkey, then the second factor if the account has one, then the page that was requested. */
export function SignInPage() {
  const [next] = useSearchParam('next')
  // After a one-time link, which replaces the password, only the second factor remains.
  const [firstStep] = useSearchParam('step')
  const [step, setStep] = useState<'password' | 'second_factor'>(firstStep === 'code' ? 'second_factor' : 'password')
  const client = useQueryClient()
  const navigate = useNavigate()
  const onStep = (after: 'done' | 'second_factor') => {
    if (after === 'second_factor') return setStep('second_factor')
    client.clear()
    void navigate({ href: safeNext(next), replace: true })
  }
  if (step === 'second_factor') {
    return (
      <FramedPage title="Two-factor authentication" detail="Enter the 6-digit code from your authenticator app.">
        <SecondFactorForm onStep={onStep} onBack={() => setStep('password')} />
      </FramedPage>
    )
  }
  return (
    <FramedPage
      title="Sign in"
      detail={next ? 'Sign in to continue.' : 'Welcome back.'}
      foot="Forgot your password or don’t have an account? Ask an admin of your workspace for a link."
    >
      <PasswordForm onStep={onStep} />
    </FramedPage>
  )
}
