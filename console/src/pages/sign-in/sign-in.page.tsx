import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { safeNext } from '../../lib/next.ts'
import { useSearchParam } from '../../lib/url.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { FramedPage } from '../../ui/framed-page.tsx'
import { Stack } from '../../ui/layout.tsx'
import { ForgotForm } from './forgot-form.tsx'
import { PasswordForm } from './password-form.tsx'
import { type CodeKind, SecondFactorForm } from './second-factor-form.tsx'
import styles from './sign-in.module.css'
import { useSignInPage } from './sign-in.queries.ts'

/** Password or passkey, then the second factor if the account has one, then the page that was requested. */
export function SignInPage() {
  const [next] = useSearchParam('next')
  // After a one-time link, which replaces the password, only the second factor remains.
  const [firstStep] = useSearchParam('step')
  const [step, setStep] = useState<'password' | 'second_factor' | 'forgot'>(
    firstStep === 'code' ? 'second_factor' : 'password',
  )
  const [codeKind, setCodeKind] = useState<CodeKind>('totp')
  const { data: installation, isLoading } = useSignInPage()
  const client = useQueryClient()
  const navigate = useNavigate()
  const onStep = (after: 'done' | 'second_factor') => {
    if (after === 'second_factor') return setStep('second_factor')
    client.clear()
    void navigate({ href: safeNext(next), replace: true })
  }
  const startOver = () => {
    setStep('password')
    setCodeKind('totp')
  }
  if (step === 'second_factor') {
    return (
      <FramedPage
        title="Two-factor authentication"
        detail={
          codeKind === 'totp'
            ? 'Enter the 6-digit code from your authenticator app.'
            : 'Enter one of your backup codes. Each works once.'
        }
      >
        <SecondFactorForm kind={codeKind} onKind={setCodeKind} onStep={onStep} onBack={startOver} />
      </FramedPage>
    )
  }
  // The help depends on whether the installation sends emails.
  if (step === 'forgot' && !isLoading) {
    if (installation?.sends_mail === false) return <ForgotWithoutMail onBack={startOver} />
    return (
      <FramedPage title="Forgot your password?" detail="You get a link by email to set a new one.">
        <ForgotForm onBack={startOver} />
      </FramedPage>
    )
  }
  if (installation?.is_set_up === false) return <FirstVisit />
  return (
    <FramedPage
      title="Sign in"
      detail={next ? 'Sign in to continue.' : 'Welcome back.'}
      foot="No account? Ask an admin of your workspace for an invitation."
    >
      <PasswordForm onStep={onStep} onForgot={() => setStep('forgot')} />
    </FramedPage>
  )
}

/** Only an operator can help. Nothing is asked here: it would not depend on the address. */
const ForgotWithoutMail = ({ onBack }: { onBack: () => void }) => (
  <FramedPage
    title="Forgot your password?"
    detail="This installation sends no emails. Ask its operator for a link to set a new password."
  >
    <div style={{ marginTop: 20 }}>
      <Stack gap={3}>
        <p>The operator creates the link under Workspaces → People, or where Parley runs:</p>
        <CodeBlock language="shell" code="./parley user reset --email YOUR_EMAIL" />
        <p>The link works once and expires in 30 minutes.</p>
        <div className={styles.links}>
          <button type="button" className="link" onClick={onBack}>
            Back to sign-in
          </button>
        </div>
      </Stack>
    </div>
  </FramedPage>
)

/** No one has an account yet. */
const FirstVisit = () => (
  <FramedPage
    title="Open the link from your terminal"
    detail="This installation has no accounts yet. When Parley started, it printed a link that creates the first one."
  >
    <div style={{ marginTop: 20 }}>
      <Stack gap={3}>
        <p>Did the link expire? Print a new one where Parley runs:</p>
        <CodeBlock language="shell" code="./parley user operator" />
      </Stack>
    </div>
  </FramedPage>
)
