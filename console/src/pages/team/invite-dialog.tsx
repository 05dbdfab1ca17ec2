import type { Role } from '@parley/contract/console/permissions'
import type { HandedLink } from '@parley/contract/console/team'
import { useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextInput } from '../../ui/fields.tsx'
import { Notice } from '../../ui/states.tsx'
import { RoleChoice } from './role-choice.tsx'
import { useTeamDeeds } from './team.queries.ts'

export interface MadeInvite {
  email: string
  link: HandedLink
}

export function InviteDialog({ onClose, onMade }: { onClose: () => void; onMade: (made: MadeInvite) => void }) {
  const { invite } = useTeamDeeds()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('developer')
  const [state, setState] = useState<{ busy: boolean; fault?: string; error?: string }>({ busy: false })
  const submit = async () => {
    const address = email.trim()
    if (state.busy) return
    if (!/^\S+@\S+$/.test(address))
      return setState({ busy: false, fault: 'Enter an e-mail address, such as ana@example.com.' })
    setState({ busy: true })
    try {
      onMade({ email: address, link: await invite(address, role) })
    } catch (error) {
      const fault = error instanceof ApiError && error.faultOf('email')
      setState({ busy: false, ...(fault ? { fault } : { error: wordsOf(error) }) })
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title="Invite somebody"
      detail="You get a link to hand on. Only an account with this address can use it."
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={state.busy}>
            Make the link
          </Button>
        </>
      }
    >
      <TextInput
        label="E-mail address"
        type="email"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={email}
        error={state.fault}
        onChange={(event) => {
          setEmail(event.currentTarget.value)
          setState({ busy: false })
        }}
        data-autofocus
      />
      <RoleChoice value={role} onChange={setRole} />
      {state.error && (
        <div role="alert">
          <Notice tone="bad">{state.error}</Notice>
        </div>
      )}
    </Dialog>
  )
}
