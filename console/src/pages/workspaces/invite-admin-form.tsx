import { type FormEvent, useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { Button } from '../../ui/button.tsx'
import { TextInput } from '../../ui/fields.tsx'
import styles from './workspaces.module.css'
import { type HandedLink, type OperatedWorkspace, useOperatorDeeds } from './workspaces.queries.ts'

export function InviteAdminForm({
  workspace,
  onMade,
}: {
  workspace: OperatedWorkspace
  onMade: (made: { email: string; link: HandedLink }) => void
}) {
  const { inviteAdmin } = useOperatorDeeds()
  const [email, setEmail] = useState('')
  const [state, setState] = useState<{ busy: boolean; fault: string | null }>({ busy: false, fault: null })
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const address = email.trim()
    if (state.busy) return
    if (!/^\S+@\S+$/.test(address))
      return setState({ busy: false, fault: 'Enter an e-mail address, such as ana@example.com.' })
    setState({ busy: true, fault: null })
    try {
      onMade({ email: address, link: await inviteAdmin(workspace.id, address) })
      setEmail('')
      setState({ busy: false, fault: null })
    } catch (error) {
      setState({ busy: false, fault: (error instanceof ApiError && error.faultOf('email')) || wordsOf(error) })
    }
  }
  return (
    <form className={styles.line} onSubmit={submit} noValidate>
      <TextInput
        className={styles.grow}
        label="E-mail address"
        type="email"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        error={state.fault}
      />
      <Button type="submit" busy={state.busy}>
        Make the link
      </Button>
    </form>
  )
}
