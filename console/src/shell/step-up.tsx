import { useEffect, useRef, useState } from 'react'
import { ApiError, confirmWith } from '../lib/api.ts'
import { useSession } from '../lib/session.ts'
import { useAction } from '../lib/use-action.ts'
import { useForm } from '../lib/use-form.ts'
import { FormDialog } from '../ui/dialog.tsx'
import { PasswordInput, TextInput } from '../ui/fields.tsx'

/** Asks a person to show again who they are, when lib/api meets a call that needs it; the call then goes on. */
export function StepUp() {
  const { person } = useSession()
  const [isOpen, setOpen] = useState(false)
  const response = useRef<(confirmed: boolean) => void>(() => {})
  const [way, setWay] = useState<'password' | 'code'>('password')
  const finish = (confirmed: boolean) => {
    response.current(confirmed)
    setOpen(false)
  }
  const form = useForm({
    first: { password: '', code: '' },
    check: (values) => ({
      [way]: values[way] ? undefined : way === 'password' ? 'Enter your password.' : 'Enter the code.',
    }),
    action: useAction((send, proof: { password: string } | { code: string }) => send('POST', 'confirm', proof), {
      refetch: ['session'],
    }),
    input: ({ password, code }) => (way === 'password' ? { password } : { code: code.replace(/\s/g, '') }),
    onDone: () => finish(true),
    explain: (error) =>
      error instanceof ApiError && error.code === 'wrong_credentials'
        ? { [way]: way === 'password' ? 'That is not your password.' : 'That code is not right, or was used before.' }
        : undefined,
  })

  useEffect(() => {
    confirmWith(
      () =>
        new Promise<boolean>((resolve) => {
          response.current = resolve
          setOpen(true)
        }),
    )
    return () => {
      confirmWith(async () => false)
      // The prompt goes away with the page around it: whatever waits for it must not wait for ever.
      response.current(false)
    }
  }, [])

  return (
    <FormDialog
      open={isOpen}
      onClose={() => finish(false)}
      title="Confirm that it is you"
      detail="This touches secrets or access. You will not be asked again for ten minutes."
      size="s"
      form={form}
      submit="Confirm"
    >
      <input type="hidden" autoComplete="username" value={person.email} readOnly />
      {way === 'password' ? (
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
              setWay(way === 'password' ? 'code' : 'password')
              form.reset()
            }}
          >
            {way === 'password' ? 'Use a code instead' : 'Use your password instead'}
          </button>
        </div>
      )}
    </FormDialog>
  )
}
