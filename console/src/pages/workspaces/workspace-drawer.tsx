import { useState } from 'react'
import { formatCredits, plural } from '../../lib/format.ts'
import { useLast } from '../../lib/last.ts'
import { useSession } from '../../lib/session.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { CopyId } from '../../ui/copy-button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { Card, Row, Stack } from '../../ui/layout.tsx'
import { OneTimeLink } from '../../ui/one-time-link.tsx'
import { Notice } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Moment } from '../../ui/time.tsx'
import { CreditForm } from './credit-form.tsx'
import { InviteAdminForm } from './invite-admin-form.tsx'
import { SuspendDialog } from './suspend-dialog.tsx'
import { type CreatedLink, type OperatedWorkspace, useResume } from './workspaces.queries.ts'

export function WorkspaceDrawer({
  workspace,
  onClose,
}: {
  workspace: OperatedWorkspace | undefined
  onClose: () => void
}) {
  return (
    <Drawer
      open={workspace !== undefined}
      onClose={onClose}
      title={<bdi>{workspace?.name}</bdi>}
      badge={workspace && <StatusBadge status={workspace.suspended_at ? 'suspended' : 'active'} />}
    >
      {workspace && <Details key={workspace.id} workspace={workspace} />}
    </Drawer>
  )
}

function Details({ workspace }: { workspace: OperatedWorkspace }) {
  const session = useSession()
  const [asks, setAsks] = useState<'suspend' | 'resume' | null>(null)
  const [made, setMade] = useState<{ email: string; link: CreatedLink } | null>(null)
  const handed = useLast(made)
  const isIn = session.workspaces.some(({ id }) => id === workspace.id)
  return (
    <Stack gap={5}>
      {workspace.suspended_at && (
        <Notice tone="bad" title="Suspended.">
          <bdi>{workspace.suspended_reason}</bdi>
        </Notice>
      )}
      <KeyValue
        facts={[
          { name: 'Id', value: <CopyId id={workspace.id} /> },
          { name: 'Created', value: <Moment at={workspace.created_at} /> },
          workspace.suspended_at !== null && { name: 'Suspended', value: <Moment at={workspace.suspended_at} /> },
          { name: 'Credits', value: formatCredits(workspace.balance) },
          {
            name: 'In it',
            value: [
              plural(workspace.members, 'member'),
              plural(workspace.senders, 'sender'),
              plural(workspace.keys, 'key'),
              plural(workspace.webhooks, 'webhook'),
            ].join(', '),
          },
        ]}
      />
      <Row>
        {isIn && (
          <ButtonLink to={`/w/${workspace.id}`} icon="arrowRight">
            Open it
          </ButtonLink>
        )}
        {workspace.suspended_at ? (
          <Button icon="play" onClick={() => setAsks('resume')}>
            Resume
          </Button>
        ) : (
          <Button kind="danger" icon="pause" onClick={() => setAsks('suspend')}>
            Suspend
          </Button>
        )}
      </Row>
      <Card title="Credits" detail="Give, or with a minus take. The note is shown in the workspace’s statement.">
        <CreditForm workspace={workspace} />
      </Card>
      <Card
        title={workspace.members === 0 ? 'Invite its first admin' : 'Invite an admin'}
        detail="You get a link to hand on; everybody else they invite themselves."
      >
        <InviteAdminForm workspace={workspace} onMade={setMade} />
      </Card>
      {!isIn && (
        <p className="quiet small">You see that this workspace is there and how much is in it, not what is in it.</p>
      )}
      {asks === 'suspend' && <SuspendDialog workspace={workspace} onClose={() => setAsks(null)} />}
      <ConfirmDialog
        open={asks === 'resume'}
        onClose={() => setAsks(null)}
        title={`Resume ${workspace.name}?`}
        confirm="Resume"
        danger={false}
        action={useResume(workspace)}
        input={undefined}
      >
        Its keys work again from the next call on, and what waited is sent.
      </ConfirmDialog>
      <OneTimeLink link={made?.link ?? null} onClose={() => setMade(null)} title="Hand this link on">
        With it <bdi>{handed?.email}</bdi> becomes an admin of <bdi>{workspace.name}</bdi>.
      </OneTimeLink>
    </Stack>
  )
}
