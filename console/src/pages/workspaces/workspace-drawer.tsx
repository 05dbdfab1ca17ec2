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
  const [dialog, setDialog] = useState<'suspend' | 'resume' | null>(null)
  const [created, setCreated] = useState<{ email: string; link: CreatedLink } | null>(null)
  const lastCreated = useLast(created)
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
          { name: 'ID', value: <CopyId id={workspace.id} /> },
          { name: 'Created', value: <Moment at={workspace.created_at} /> },
          workspace.suspended_at !== null && { name: 'Suspended', value: <Moment at={workspace.suspended_at} /> },
          { name: 'Credits', value: formatCredits(workspace.balance) },
          {
            name: 'Contains',
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
            Open workspace
          </ButtonLink>
        )}
        {workspace.suspended_at ? (
          <Button icon="play" onClick={() => setDialog('resume')}>
            Resume workspace
          </Button>
        ) : (
          <Button kind="danger" icon="pause" onClick={() => setDialog('suspend')}>
            Suspend workspace
          </Button>
        )}
      </Row>
      <Card
        title="Credits"
        detail="Enter a negative amount to remove credits. The note appears in the workspace’s transactions."
      >
        <CreditForm workspace={workspace} />
      </Card>
      <Card
        title={workspace.members === 0 ? 'Invite the first admin' : 'Invite an admin'}
        detail="Creates a link to share. The admin can invite everyone else."
      >
        <InviteAdminForm workspace={workspace} onCreated={setCreated} />
      </Card>
      {!isIn && <p className="quiet small">You are not a member, so you cannot see the content of this workspace.</p>}
      {dialog === 'suspend' && <SuspendDialog workspace={workspace} onClose={() => setDialog(null)} />}
      <ConfirmDialog
        open={dialog === 'resume'}
        onClose={() => setDialog(null)}
        title={`Resume ${workspace.name}?`}
        confirm="Resume workspace"
        danger={false}
        action={useResume(workspace)}
        input={undefined}
      >
        API keys work again immediately, and queued messages are sent.
      </ConfirmDialog>
      <OneTimeLink link={created?.link ?? null} onClose={() => setCreated(null)}>
        <bdi>{lastCreated?.email}</bdi> can use it to become an admin of <bdi>{workspace.name}</bdi>.
      </OneTimeLink>
    </Stack>
  )
}
