import { type FormEvent, useRef, useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { passwordFault } from '../../lib/password.ts'
import { useSession } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { focusFirstFault, PasswordInput } from '../../ui/fields.tsx'
import { Section } from '../../ui/layout.tsx'
import { NewPassword } from '../../ui/new-password.tsx'
import { Notice } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import styles from './account.module.css'
import { changePassword, useRenewAccount } from './account.queries.ts'

interface Faults {
  current?: string | undefined
  next?: string | undefined
  form?: string | undefined
}

export function PasswordSection() {
  const { person } = useSession()
  const renew = useRenewAccount()
  const form = useRef<HTMLFormElement>(null)
  const [open, setOpen] = useState(false)
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [busy, setBusy] = useState(false)
  const [faults, setFaults] = useState<Faults>({})

  const close = () => {
    setOpen(false)
    setCurrent('')
    setNext('')
    setFaults({})
  }
  const refuse = (found: Faults) => {
    setBusy(false)
    setFaults(found)
    focusFirstFault(form.current)
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    const fault = passwordFault(next)
    if (!current || fault)
      return refuse({ current: current ? undefined : 'Enter the password you have now.', next: fault ?? undefined })
    setBusy(true)
    setFaults({})
    try {
      await changePassword(current, next)
      setBusy(false)
      close()
      toast.done('Password changed. Your other devices are signed out.')
      await renew()
    } catch (error) {
      if (!(error instanceof ApiError)) return refuse({ form: wordsOf(error) })
      if (error.code === 'wrong_credentials') return refuse({ current: 'That is not your password.' })
      const ofNext = error.faultOf('next') ?? error.faultOf('password')
      refuse(ofNext ? { next: ofNext } : { form: error.message })
    }
  }
  return (
    <Section title="Password" detail="Changing it signs out all your other devices.">
      {open ? (
        <form ref={form} className={styles.form} onSubmit={submit} noValidate>
          <div role="alert">{faults.form && <Notice tone="bad">{faults.form}</Notice>}</div>
          <input type="hidden" autoComplete="username" value={person.email} readOnly />
          <PasswordInput
            label="Password you have now"
            autoComplete="current-password"
            value={current}
            onChange={(event) => setCurrent(event.currentTarget.value)}
            error={faults.current}
            autoFocus
          />
          <NewPassword label="New password" value={next} onChange={setNext} error={faults.next} />
          <div className={styles.buttons}>
            <Button type="submit" kind="primary" busy={busy}>
              Change the password
            </Button>
            <Button onClick={close}>Cancel</Button>
          </div>
        </form>
      ) : (
        <div className={styles.buttons}>
          <Button icon="lock" onClick={() => setOpen(true)}>
            Change the password
          </Button>
        </div>
      )}
    </Section>
  )
}
