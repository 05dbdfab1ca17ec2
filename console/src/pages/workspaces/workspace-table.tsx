import { formatCredits, formatNumber } from '../../lib/format.ts'
import { useSearchParam } from '../../lib/url.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Button } from '../../ui/button.tsx'
import { numberColumn, timeColumn } from '../../ui/columns.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { SafeText } from '../../ui/link.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { WorkspaceDrawer } from './workspace-drawer.tsx'
import styles from './workspaces.module.css'
import { type OperatedWorkspace, useWorkspaces } from './workspaces.queries.ts'

export function WorkspaceTable({ onCreate }: { onCreate: () => void }) {
  const list = useWorkspaces()
  const [open, setOpen] = useSearchParam('open', { push: true })
  return (
    <>
      <DataTable
        label="Workspaces"
        list={list}
        rowKey={({ id }) => id}
        onOpen={({ id }) => setOpen(id)}
        openKey={open}
        columns={[
          {
            key: 'name',
            title: 'Name',
            cell: ({ name }) => (
              <span className={styles.name}>
                <Avatar name={name} square />
                <SafeText>{name}</SafeText>
              </span>
            ),
          },
          {
            key: 'state',
            title: 'Status',
            width: 130,
            cell: ({ suspended_at }) => <StatusBadge status={suspended_at ? 'suspended' : 'active'} />,
          },
          numberColumn('balance', 'Credits', ({ balance }: OperatedWorkspace) => formatCredits(balance), {
            width: 110,
          }),
          { key: 'members', title: 'Members', width: 90, align: 'right', cell: (each) => count(each.members) },
          { key: 'senders', title: 'Senders', width: 90, align: 'right', cell: (each) => count(each.senders) },
          {
            key: 'keys',
            title: 'Keys',
            width: 80,
            align: 'right',
            hideOn: 'tablet',
            cell: (each) => count(each.keys),
          },
          {
            key: 'webhooks',
            title: 'Webhooks',
            width: 100,
            align: 'right',
            hideOn: 'tablet',
            cell: (each) => count(each.webhooks),
          },
          timeColumn('created', 'Created', ({ created_at }: OperatedWorkspace) => created_at),
        ]}
        empty={
          <EmptyState
            icon="building"
            title="No workspaces yet"
            action={
              <Button kind="primary" icon="plus" onClick={onCreate}>
                Create workspace
              </Button>
            }
          >
            Each workspace has its own team, keys, senders, webhooks and credits, isolated from other workspaces.
          </EmptyState>
        }
      />
      <WorkspaceDrawer workspace={list.rows?.find(({ id }) => id === open)} onClose={() => setOpen(null)} />
    </>
  )
}

const count = (number: number) => (
  <span className={number === 0 ? 'numbers quiet' : 'numbers'}>{formatNumber(number)}</span>
)
