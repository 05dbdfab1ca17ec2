import { useMemo, useState } from 'react'
import { useLast } from '../../lib/last.ts'
import { usePaletteActions } from '../../lib/palette-actions.ts'
import { useCan, useWorkspace } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { OneTimeLink } from '../../ui/one-time-link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { InviteDialog, type MadeInvite } from './invite-dialog.tsx'
import { Invites } from './invites.tsx'
import { LeaveButton } from './leave.tsx'
import { Members } from './members.tsx'

export function TeamPage() {
  const workspace = useWorkspace()
  const mayManage = useCan('team:manage')
  const [isInviting, setInviting] = useState(false)
  const [made, setMade] = useState<MadeInvite | null>(null)
  const handed = useLast(made)
  usePaletteActions(
    useMemo(
      () =>
        mayManage
          ? [{ id: 'team.invite', title: 'Invite somebody', keywords: 'team member add', run: () => setInviting(true) }]
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
                Invite
              </Button>
            )}
          </>
        }
      />
      <PageBody>
        <Members />
        <Invites onMade={setMade} />
      </PageBody>
      {isInviting && (
        <InviteDialog
          onClose={() => setInviting(false)}
          onMade={(each) => {
            setInviting(false)
            setMade(each)
          }}
        />
      )}
      <OneTimeLink link={made?.link ?? null} onClose={() => setMade(null)} title="Hand this link on">
        With it <bdi>{handed?.email}</bdi> joins {workspace.name}.
      </OneTimeLink>
    </>
  )
}
