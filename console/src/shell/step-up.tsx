import { useEffect, useRef, useState } from 'react'
import { ApiError, confirmWith } from '../lib/api.ts'
import { useSession } from '../lib/session.ts'
import { useAction } from '../lib/use-action.ts'
import { useForm } from '../lib/use-form.ts'
import { FormDialog } from '../ui/dialog.tsx'
import { PasswordInput, TextInput } from '../ui/fields.tsx'

/** Asks for the password or a code when a request needs a recent confirmation. lib/api then repeats the request. */
export function StepUp() {
  const { person } = useSession()
  const [isOpen, setOpen] = useState(false)
  const resolvePrompt = useRef<(confirmed: boolean) => void>(() => {})
  const [method, setMethod] = useState<'password' | 'code'>('password')
  const finish = (confirmed: boolean) => {
    resolvePrompt.current(confirmed)
    setOpen(false)
  }
  const form = useForm({
    first: { password: '', code: '' },
    check: (values) => ({
      [method]: values[method] ? undefined : method === 'password' ? 'Enter your password.' : 'Enter the code.',
    }),
    action: useAction((send, proof: { password: string } | { code: string }) => send('POST', 'confirm', proof), {
      refetch: ['session'],
    }),
    input: ({ password, code }) => (method === 'password' ? { password } : { code: code.replace(/\s/g, '') }),
    onDone: () => finish(true),
    explain: (error) =>
      error instanceof ApiError && error.code === 'wrong_credentials'
        ? { [method]: method === 'password' ? 'Wrong password.' : 'Wrong or already used code.' }
        : undefined,
  })

  useEffect(() => {
    confirmWith(
      () =>
        new Promise<boolean>((resolve) => {
          resolvePrompt.current = resolve
          setOpen(true)
        }),
    )
    return () => {
      confirmWith(async () => false)
      // The prompt disappears with the page, so a request that waits for it must fail.
      resolvePrompt.current(false)
    }
  }, [])

  return (
    <FormDialog
      open={isOpen}
      onClose={() => finish(false)}
      title="Confirm your identity"
      detail="This action affects secrets or access. We won’t ask again for 10 minutes."
      size="s"
      form={form}
      submit="Confirm"
    >
      <input type="hidden" autoComplete="username" value={person.email} readOnly />
      {method === 'password' ? (
        <PasswordInput label="Password" autoComplete="current-password" {...form.text('password')} data-autofocus />
      ) : (
        <TextInput
          label="Code from your authenticator app"
          inputMode="numeric"
          autoComplete="one-time-code"
          {...form.text('code')}
          data-autofocus
        />
      )}
      {person.two_factor && (
        <div>
          <button
            type="button"
            className="link"
            onClick={() => {
              setMethod(method === 'password' ? 'code' : 'password')
              form.reset()
            }}
          >
            {method === 'password' ? 'Use a code instead' : 'Use your password instead'}
          </button>
        </div>
      )}
    </FormDialog>
  )
}
