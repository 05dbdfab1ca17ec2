import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useRenewSession, useWorkspace } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toasts.tsx'
import { useTeam, useTeamDeeds } from './team.queries.ts'

/** The way out of a workspace; the last admin is told why there is none. */
export function LeaveButton() {
  const workspace = useWorkspace()
  const { data } = useTeam()
  const { leave } = useTeamDeeds()
  const renew = useRenewSession()
  const navigate = useNavigate()
  const [isAsking, setAsking] = useState(false)
  const admins = data?.members.filter(({ role }) => role === 'admin') ?? []
  const isLast = admins.length === 1 && admins[0]?.is_you === true
  return (
    <>
      <Button kind="quiet" icon="signOut" onClick={() => setAsking(true)}>
        Leave
      </Button>
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={isLast ? 'You are the last admin' : `Leave ${workspace.name}?`}
        confirm={isLast ? 'Understood' : 'Leave'}
        danger={!isLast}
        onConfirm={async () => {
          if (isLast) return
          await leave()
          toast.done(`You left ${workspace.name}`)
          await navigate({ to: '/account' })
          await renew()
          await navigate({ to: '/' })
        }}
      >
        {isLast
          ? 'Make somebody else an admin first. Without one, nobody could manage this workspace.'
          : 'You lose access at once; an admin would have to invite you again. Keys you created go on working.'}
      </ConfirmDialog>
    </>
  )
}
