import { useMemo, useState } from 'react'
import { useLast } from '../../lib/last.ts'
import { usePaletteActions } from '../../lib/palette-actions.ts'
import { useCan, useWorkspace } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { OneTimeLink } from '../../ui/one-time-link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { type CreatedInvite, InviteDialog } from './invite-dialog.tsx'
import { Invites } from './invites.tsx'
import { LeaveButton } from './leave.tsx'
import { Members } from './members.tsx'

export function TeamPage() {
  const workspace = useWorkspace()
  const mayManage = useCan('team:manage')
  const [isInviting, setInviting] = useState(false)
  const [created, setCreated] = useState<CreatedInvite | null>(null)
  const lastCreated = useLast(created)
  usePaletteActions(
    useMemo(
      () =>
        mayManage
          ? [
              {
                id: 'team.invite',
                title: 'Invite teammate',
                keywords: 'team member add',
                run: () => setInviting(true),
              },
            ]
          : [],
      [mayManage],
    ),
  )
  return (
    <>
      <PageHeader
        title="Team"
        actions={
          <>
            <LeaveButton />
            {mayManage && (
              <Button kind="primary" icon="plus" onClick={() => setInviting(true)}>
                Invite teammate
              </Button>
            )}
          </>
        }
      />
      <PageBody>
        <Members />
        <Invites onCreated={setCreated} />
      </PageBody>
      {isInviting && (
        <InviteDialog
          onClose={() => setInviting(false)}
          onCreated={(each) => {
            setInviting(false)
            setCreated(each)
          }}
        />
      )}
      <OneTimeLink link={created?.link ?? null} onClose={() => setCreated(null)}>
        <bdi>{lastCreated?.email}</bdi> can use it to join {workspace.name}.
      </OneTimeLink>
    </>
  )
}
