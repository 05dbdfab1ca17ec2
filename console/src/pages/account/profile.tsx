import { type FormEvent, useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { useSession } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { TextInput } from '../../ui/fields.tsx'
import { Section } from '../../ui/layout.tsx'
import { toast } from '../../ui/toasts.tsx'
import styles from './account.module.css'
import { rename, useRenewAccount } from './account.queries.ts'

export function ProfileSection() {
  const { person } = useSession()
  const renew = useRenewAccount()
  const [name, setName] = useState(person.name)
  const [state, setState] = useState<{ busy: boolean; fault: string | null }>({ busy: false, fault: null })
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (state.busy) return
    if (!name.trim()) return setState({ busy: false, fault: 'Enter your name.' })
    setState({ busy: true, fault: null })
    try {
      setName((await rename(name)).name)
      setState({ busy: false, fault: null })
      toast.done('Name changed')
      await renew()
    } catch (error) {
      setState({ busy: false, fault: (error instanceof ApiError && error.faultOf('name')) || wordsOf(error) })
    }
  }
  return (
    <Section title="Profile" detail="How you appear to your teams and in the audit log.">
      <form className={styles.form} onSubmit={submit} noValidate>
        <TextInput
          label="Name"
          autoComplete="name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={state.fault}
        />
        <TextInput
          label="E-mail address"
          description="You sign in with it. It cannot be changed."
          value={person.email}
          readOnly
          autoComplete="username"
        />
        <Button type="submit" busy={state.busy} disabled={name.trim() === person.name}>
          Save the name
        </Button>
      </form>
    </Section>
  )
}
