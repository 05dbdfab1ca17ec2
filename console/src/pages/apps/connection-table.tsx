import { remedyFor } from '../../parts/sync-remedy.ts'
import { Button } from '../../ui/button.tsx'
import { CopyId } from '../../ui/copy-button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { SafeText } from '../../ui/link.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import styles from './apps.module.css'
import {
  type OperatedConnection,
  useApps,
  useConnections,
  useSyncConnection,
  useWorkspaceNames,
} from './apps.queries.ts'

export function ConnectionTable({ onConnect }: { onConnect?: () => void }) {
  const apps = useApps().rows
  const workspaces = useWorkspaceNames().rows
  return (
    <DataTable
      label="Connections"
      list={useConnections()}
      rowKey={({ id }) => id}
      columns={[
        {
          key: 'waba',
          title: 'WhatsApp Business account',
          cell: (each) => (
            <span className={styles.account}>
              <bdi className="mono">{each.waba_id}</bdi>
              {each.sync_error && (
                <span className={styles.fault}>
                  <bdi>{each.sync_error}</bdi> {remedyFor(each.sync_error)}
                </span>
              )}
            </span>
          ),
        },
        {
          key: 'workspace',
          title: 'Workspace',
          width: 170,
          cell: (each) => <SafeText>{workspaces?.find(({ id }) => id === each.workspace_id)?.name}</SafeText>,
        },
        {
          key: 'app',
          title: 'App',
          width: 150,
          hideOn: 'tablet',
          cell: (each) => <SafeText>{apps?.find(({ id }) => id === each.app_id)?.name}</SafeText>,
        },
        {
          key: 'state',
          title: 'Status',
          width: 130,
          cell: ({ sync_error, synced_at }) =>
            sync_error ? (
              <StatusBadge status="failing" />
            ) : (
              <StatusBadge status={synced_at ? 'connected' : 'pending'} />
            ),
        },
        {
          key: 'synced',
          title: 'Last sync',
          width: 120,
          cell: ({ synced_at }) => <TimeAgo at={synced_at} />,
        },
        { key: 'id', title: 'ID', width: 150, hideOn: 'tablet', cell: ({ id }) => <CopyId id={id} short /> },
        { key: 'act', title: '', width: 130, align: 'right', cell: (each) => <SyncButton connection={each} /> },
      ]}
      empty={
        <EmptyState
          icon="link"
          title="No accounts connected"
          action={
            onConnect && (
              <Button kind="primary" icon="plug" onClick={onConnect}>
                Connect account
              </Button>
            )
          }
        >
          {onConnect
            ? 'Connect a WhatsApp Business account to use its phone numbers and templates in a workspace.'
            : 'Add an app first. Accounts are connected through an app.'}
        </EmptyState>
      }
    />
  )
}

function SyncButton({ connection }: { connection: OperatedConnection }) {
  const sync = useSyncConnection(connection)
  return (
    <Button size="s" icon="retry" busy={sync.isPending} onClick={() => sync.run()}>
      Sync<span className="unseen"> {connection.waba_id}</span>
    </Button>
  )
}
