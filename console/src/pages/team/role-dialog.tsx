import type { Role } from '@parley/contract/console/permissions'
import type { Member } from '@parley/contract/console/team'
import { useState } from 'react'
import { wordsOf } from '../../lib/api.ts'
import { useRenewSession } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { RoleChoice, roleWords } from './role-choice.tsx'
import { useTeamDeeds } from './team.queries.ts'

export function RoleDialog({
  member,
  isLastAdmin,
  onClose,
}: {
  member: Member
  isLastAdmin: boolean
  onClose: () => void
}) {
  const { changeRole } = useTeamDeeds()
  const renew = useRenewSession()
  const [role, setRole] = useState<Role>(member.role)
  const [state, setState] = useState<{ busy: boolean; fault: string | null }>({ busy: false, fault: null })
  const submit = async () => {
    if (state.busy || role === member.role) return
    setState({ busy: true, fault: null })
    try {
      await changeRole(member.id, role)
      toast.done(`${member.name} is ${roleWords[role].title.toLowerCase()} now`)
      onClose()
      if (member.is_you) await renew()
    } catch (error) {
      setState({ busy: false, fault: wordsOf(error) })
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={member.is_you ? 'Your role' : `Role of ${member.name}`}
      detail={<bdi>{member.email}</bdi>}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={state.busy} disabled={role === member.role}>
            Change the role
          </Button>
        </>
      }
    >
      {isLastAdmin && (
        <Notice>
          {member.is_you ? 'You are' : `${member.name} is`} the last admin. Make somebody else an admin first: without
          one, nobody could manage this workspace.
        </Notice>
      )}
      <RoleChoice value={role} onChange={setRole} disabled={isLastAdmin ? ['developer', 'member'] : []} />
      {member.is_you && role !== member.role && (
        <Notice tone="warn">You cannot give yourself the old role back; another admin would have to.</Notice>
      )}
      <div role="alert">{state.fault && <Notice tone="bad">{state.fault}</Notice>}</div>
    </Dialog>
  )
}
