import { useState } from 'react'
import { ApiError } from '../lib/api.ts'
import { passkeyObstacle, signByPasskey, wasCancelled } from '../lib/passkey.ts'
import { type Session, useSession } from '../lib/session.ts'
import { useAction } from '../lib/use-action.ts'
import { useForm } from '../lib/use-form.ts'
import { FormDialog } from '../ui/dialog.tsx'
import { PasswordInput, TextInput } from '../ui/fields.tsx'

type Method = 'passkey' | 'password' | 'code'
type Proof = { passkey: true } | { password: string } | { code: string }

/** Asks for a passkey, the password or a code. */
export function StepUpDialog({ open, onFinish }: { open: boolean; onFinish: (isConfirmed: boolean) => void }) {
  const { person, public_url: publicUrl } = useSession()
  const methods = methodsOf(person, publicUrl)
  const [chosen, setChosen] = useState<Method | null>(null)
  const method = chosen ?? methods[0] ?? 'password'
  const form = useForm({
    first: { password: '', code: '' },
    check: ({ password, code }) => ({
      password: method !== 'password' || password ? undefined : 'Enter your password.',
      code: method !== 'code' || code ? undefined : 'Enter the code.',
    }),
    action: useAction(
      async (send, proof: Proof) =>
        send(
          'POST',
          'confirm',
          'passkey' in proof ? { passkey: await signByPasskey(send, 'confirm/passkey/options') } : proof,
        ),
      { refetch: ['session'] },
    ),
    input: ({ password, code }): Proof =>
      method === 'passkey'
        ? { passkey: true }
        : method === 'password'
          ? { password }
          : { code: code.replace(/\s/g, '') },
    onDone: () => onFinish(true),
    explain: (error) => {
      if (method === 'passkey') {
        return wasCancelled(error)
          ? { form: 'You are not confirmed: the request was cancelled or timed out.' }
          : undefined
      }
      return error instanceof ApiError && error.code === 'wrong_credentials'
        ? { [method]: method === 'password' ? 'Wrong password.' : 'Wrong or already used code.' }
        : undefined
    },
  })

  return (
    <FormDialog
      open={open}
      onClose={() => onFinish(false)}
      title="Confirm your identity"
      detail="This action affects secrets or access. We won’t ask again for 10 minutes."
      size="s"
      form={form}
      guarded={false}
      submit={method === 'passkey' ? 'Use passkey' : 'Confirm'}
      {...(method === 'passkey' ? { icon: 'passkey' } : {})}
    >
      {method === 'passkey' && <p>Confirm with your fingerprint, face or device PIN.</p>}
      {method === 'password' && (
        <>
          <input type="hidden" autoComplete="username" value={person.email} readOnly />
          <PasswordInput label="Password" autoComplete="current-password" {...form.text('password')} data-autofocus />
        </>
      )}
      {method === 'code' && (
        <TextInput
          label="Code from your authenticator app"
          inputMode="numeric"
          autoComplete="one-time-code"
          {...form.text('code')}
          data-autofocus
        />
      )}
      {methods
        .filter((each) => each !== method)
        .map((each) => (
          <div key={each}>
            <button
              type="button"
              className="link"
              onClick={() => {
                setChosen(each)
                form.reset()
              }}
            >
              {instead[each]}
            </button>
          </div>
        ))}
    </FormDialog>
  )
}

const instead: Readonly<Record<Method, string>> = {
  passkey: 'Use a passkey instead',
  password: 'Use your password instead',
  code: 'Use a code instead',
}

/** How this person can confirm in this browser, the easiest first. */
const methodsOf = ({ passkeys, has_password, two_factor }: Session['person'], publicUrl: string): Method[] => [
  ...(passkeys > 0 && passkeyObstacle(publicUrl) === null ? (['passkey'] as const) : []),
  ...(has_password ? (['password'] as const) : []),
  ...(two_factor ? (['code'] as const) : []),
]
