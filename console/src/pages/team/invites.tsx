import type { Invite } from '@parley/contract/console/team'
import { useState } from 'react'
import { useLast } from '../../lib/last.ts'
import { useCan } from '../../lib/session.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { SafeText } from '../../ui/link.tsx'
import { Menu } from '../../ui/menu.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import type { CreatedInvite } from './invite-dialog.tsx'
import { roles } from './role-choice.tsx'
import styles from './team.module.css'
import { useInvite, useTeam, useWithdrawInvite } from './team.queries.ts'

/** Invitations that were not accepted yet. */
export function Invites({ onCreated }: { onCreated: (created: CreatedInvite) => void }) {
  const { data } = useTeam()
  const mayManage = useCan('team:manage')
  const invite = useInvite()
  const withdraw = useWithdrawInvite()
  const [withdrawn, setWithdrawn] = useState<Invite | null>(null)
  const lastWithdrawn = useLast(withdrawn)
  if (!data || data.invites.length === 0) return null
  const renew = ({ email, role }: Invite) =>
    invite.run({ email, role }, { onDone: (link) => onCreated({ email, link }) })
  return (
    <section className={styles.invites}>
      <h2 className={styles.heading}>Pending invitations</h2>
      <DataTable
        label="Invitations"
        list={{ rows: data.invites, error: null, isLoading: false, retry: () => undefined }}
        rowKey={(each) => each.id}
        columns={[
          { key: 'email', title: 'Email', cell: ({ email }) => <SafeText>{email}</SafeText> },
          { key: 'role', title: 'Role', width: 150, cell: ({ role }) => roles[role].title },
          { key: 'by', title: 'Invited by', hideOn: 'tablet', cell: (each) => <SafeText>{each.created_by}</SafeText> },
          { key: 'ends', title: 'Expires', width: 130, cell: (each) => <TimeAgo at={each.expires_at} /> },
          ...(mayManage
            ? [
                {
                  key: 'act',
                  title: '',
                  width: 56,
                  align: 'right' as const,
                  cell: (each: Invite) => (
                    <Menu
                      label={`Actions for the invitation to ${each.email}`}
                      groups={[
                        [{ title: 'Create new link', icon: 'link', onSelect: () => renew(each) }],
                        [{ title: 'Withdraw…', icon: 'trash', danger: true, onSelect: () => setWithdrawn(each) }],
                      ]}
                    />
                  ),
                },
              ]
            : []),
        ]}
      />
      <ConfirmDialog
        open={withdrawn !== null}
        onClose={() => setWithdrawn(null)}
        title="Withdraw invitation?"
        confirm="Withdraw invitation"
        action={withdraw}
        input={withdrawn?.id}
      >
        The link for <bdi>{lastWithdrawn?.email}</bdi> stops working immediately.
      </ConfirmDialog>
    </section>
  )
}
