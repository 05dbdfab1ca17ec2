import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import styles from './apps.module.css'
import { type OperatedApp, useApps } from './apps.queries.ts'

export function AppTable({ onCreate, onShowSetup }: { onCreate: () => void; onShowSetup: (app: OperatedApp) => void }) {
  return (
    <DataTable
      label="Apps"
      list={useApps()}
      loadingRows={1}
      rowKey={({ id }) => id}
      columns={[
        {
          key: 'name',
          title: 'Name',
          width: 180,
          cell: ({ name }) => <bdi className={styles.name}>{name}</bdi>,
        },
        {
          key: 'callback',
          title: 'Callback URL',
          cell: ({ callback_url }) => (
            <span className={styles.url}>
              <bdi className="mono small" title={callback_url}>
                {callback_url}
              </bdi>
              <CopyButton text={callback_url} label="Copy callback URL" />
            </span>
          ),
        },
        {
          key: 'graph',
          title: 'Graph API URL',
          width: 220,
          hideOn: 'tablet',
          cell: ({ graph_url }) => <bdi className="mono small quiet">{graph_url}</bdi>,
        },
        {
          key: 'at',
          title: 'Added',
          width: 110,
          hideOn: 'tablet',
          cell: ({ created_at }) => <TimeAgo at={created_at} />,
        },
        {
          key: 'act',
          title: '',
          width: 120,
          align: 'right',
          cell: (app) => (
            <Button size="s" onClick={() => onShowSetup(app)}>
              Setup steps<span className="unseen"> for {app.name}</span>
            </Button>
          ),
        },
      ]}
      empty={
        <EmptyState
          icon="plug"
          title="No apps yet"
          action={
            <Button kind="primary" icon="plug" onClick={onCreate}>
              Connect WhatsApp
            </Button>
          }
        >
          Create a Meta app with the WhatsApp product at developers.facebook.com, then connect it here.
        </EmptyState>
      }
    />
  )
}
