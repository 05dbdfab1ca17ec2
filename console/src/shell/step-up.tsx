import { useEffect, useRef, useState } from 'react'
import { ApiError, api, confirmWith, wordsOf } from '../lib/api.ts'
import { useRenewSession, useSession } from '../lib/session.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { PasswordInput, TextInput } from '../ui/fields.tsx'

/** Asks a person to show again who they are, when lib/api meets a call that needs it; the call then goes on. */
export function StepUp() {
  const { person } = useSession()
  const renew = useRenewSession()
  const [isOpen, setOpen] = useState(false)
  const answer = useRef<(confirmed: boolean) => void>(() => {})
  const [way, setWay] = useState<'password' | 'code'>('password')
  const [text, setText] = useState('')
  const [state, setState] = useState<{ busy: boolean; error: string | null }>({ busy: false, error: null })

  useEffect(() => {
    confirmWith(
      () =>
        new Promise<boolean>((resolve) => {
          setText('')
          setState({ busy: false, error: null })
          answer.current = resolve
          setOpen(true)
        }),
    )
    return () => {
      confirmWith(async () => false)
      // The prompt goes away with the page around it: whatever waits for it must not wait for ever.
      answer.current(false)
    }
  }, [])

  const finish = (confirmed: boolean) => {
    answer.current(confirmed)
    setOpen(false)
    setText('')
  }
  const submit = async () => {
    if (state.busy) return
    if (!text) return setState({ busy: false, error: way === 'password' ? 'Enter your password.' : 'Enter the code.' })
    setState({ busy: true, error: null })
    try {
      await api('confirm', {
        method: 'POST',
        body: way === 'password' ? { password: text } : { code: text.replace(/\s/g, '') },
      })
      finish(true)
      void renew()
    } catch (error) {
      const isWrong = error instanceof ApiError && error.code === 'wrong_credentials'
      const words = way === 'password' ? 'That is not your password.' : 'That code is not right, or was used before.'
      setState({ busy: false, error: isWrong ? words : wordsOf(error) })
    }
  }
  const change = (event: { currentTarget: HTMLInputElement }) => {
    setText(event.currentTarget.value)
    setState({ busy: false, error: null })
  }
  return (
    <Dialog
      open={isOpen}
      onClose={() => finish(false)}
      title="Confirm that it is you"
      detail="This touches secrets or access. You will not be asked again for ten minutes."
      size="s"
      onSubmit={submit}
      actions={
        <>
          <Button onClick={() => finish(false)}>Cancel</Button>
          <Button type="submit" kind="primary" busy={state.busy}>
            Confirm
          </Button>
        </>
      }
    >
      <input type="hidden" autoComplete="username" value={person.email} readOnly />
      {way === 'password' ? (
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          value={text}
          onChange={change}
          error={state.error}
          data-autofocus
        />
      ) : (
        <TextInput
          label="Code from your authenticator app"
          inputMode="numeric"
          autoComplete="one-time-code"
          value={text}
          onChange={change}
          error={state.error}
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
              setText('')
              setState({ busy: false, error: null })
            }}
          >
            {way === 'password' ? 'Use a code instead' : 'Use your password instead'}
          </button>
        </div>
      )}
    </Dialog>
  )
}
