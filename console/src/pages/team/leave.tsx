import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useHere, useReloadSession, useWorkspace } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx'
import { useTeam } from './team.queries.ts'

/** The way out of a workspace; the last admin is told why there is none. */
export function LeaveButton() {
  const workspace = useWorkspace()
  const { data } = useTeam()
  const leave = useLeave()
  const [isAsking, setAsking] = useState(false)
  const close = () => setAsking(false)
  const admins = data?.members.filter(({ role }) => role === 'admin') ?? []
  const isLast = admins.length === 1 && admins[0]?.is_you === true
  return (
    <>
      <Button kind="quiet" icon="signOut" onClick={() => setAsking(true)}>
        Leave
      </Button>
      <Dialog
        open={isAsking && isLast}
        onClose={close}
        size="s"
        title="You are the last admin"
        actions={
          <Button kind="primary" onClick={close}>
            Understood
          </Button>
        }
      >
        Make somebody else an admin first. Without one, nobody could manage this workspace.
      </Dialog>
      <ConfirmDialog
        open={isAsking && !isLast}
        onClose={close}
        title={`Leave ${workspace.name}?`}
        confirm="Leave"
        action={leave}
        input={undefined}
      >
        You lose access at once; an admin would have to invite you again. Keys you created go on working.
      </ConfirmDialog>
    </>
  )
}

function useLeave() {
  const here = useHere()
  const { name } = useWorkspace()
  const renew = useReloadSession()
  const navigate = useNavigate()
  return useAction(
    async (send) => {
      await send('POST', here.api('team/leave'))
      // Off its pages first: the session that comes next no longer knows the workspace.
      await navigate({ to: '/account' })
      await renew()
      await navigate({ to: '/' })
    },
    { done: `You left ${name}` },
  )
}
