import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useHere, useReloadSession, useWorkspace } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx'
import { useTeam } from './team.queries.ts'

/** Leaves the workspace. The last admin cannot, and the dialog explains why. */
export function LeaveButton() {
  const workspace = useWorkspace()
  const { data } = useTeam()
  const leave = useLeave()
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  const admins = data?.members.filter(({ role }) => role === 'admin') ?? []
  const isLast = admins.length === 1 && admins[0]?.is_you === true
  return (
    <>
      <Button kind="quiet" icon="signOut" onClick={() => setOpen(true)}>
        Leave workspace
      </Button>
      <Dialog
        open={isOpen && isLast}
        onClose={close}
        size="s"
        title="You are the last admin"
        actions={
          <Button kind="primary" onClick={close}>
            Close
          </Button>
        }
      >
        Make another member an admin first. A workspace needs at least one admin.
      </Dialog>
      <ConfirmDialog
        open={isOpen && !isLast}
        onClose={close}
        title={`Leave ${workspace.name}?`}
        confirm="Leave workspace"
        action={leave}
        input={undefined}
      >
        You lose access immediately. To return, you need a new invitation. Keys you created keep working.
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
      // Leave the workspace's pages first: the renewed session no longer contains it.
      await navigate({ to: '/account' })
      await renew()
      await navigate({ to: '/' })
    },
    { done: `You left ${name}` },
  )
}
