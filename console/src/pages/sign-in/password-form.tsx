import { passkeyObstacle, wasCancelled } from '../../lib/passkey.ts'
import { useForm } from '../../lib/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { PasswordInput, TextInput } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import styles from './sign-in.module.css'
import { signInError, useSignIn, useSignInPage, useSignInWithPasskey } from './sign-in.queries.ts'

export function PasswordForm({
  onStep,
  onForgot,
}: {
  onStep: (next: 'done' | 'second_factor') => void
  onForgot: () => void
}) {
  const passkey = useSignInWithPasskey()
  const { data } = useSignInPage()
  const obstacle = data && passkeyObstacle(data.public_url)
  const form = useForm({
    first: { email: '', password: '' },
    check: ({ email, password }) => ({
      email: email.trim() ? undefined : 'Enter your email address.',
      password: password ? undefined : 'Enter your password.',
    }),
    action: useSignIn(),
    input: ({ email, password }) => ({ email: email.trim(), password }),
    onDone: ({ next }) => onStep(next),
    explain: (error) => ({ form: signInError(error, 'Wrong email address or password.') }),
  })
  const withPasskey = () => {
    form.showErrors({})
    passkey.run(undefined, {
      onDone: ({ next }) => onStep(next),
      onError: (error) => {
        if (wasCancelled(error)) return
        form.showErrors({ form: signInError(error, 'This passkey is not registered. Sign in with your password.') })
      },
    })
  }
  return (
    <Form form={form} guarded={false}>
      <TextInput
        label="Email address"
        name="email"
        type="email"
        autoComplete="username webauthn"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
        {...form.text('email')}
      />
      <PasswordInput label="Password" name="password" autoComplete="current-password" {...form.text('password')} />
      <Button type="submit" kind="primary" size="l" fullWidth busy={form.isPending}>
        Sign in
      </Button>
      {obstacle === null && (
        <>
          <div className={styles.or}>or</div>
          <Button icon="passkey" size="l" fullWidth busy={passkey.isPending} onClick={withPasskey}>
            Use a passkey
          </Button>
        </>
      )}
      <div className={styles.links}>
        {obstacle?.url && <a href={`${obstacle.url}/sign-in`}>Use a passkey at {obstacle.url}</a>}
        <button type="button" className="link" onClick={onForgot}>
          Forgot your password?
        </button>
      </div>
    </Form>
  )
}
