import { useIsPhone } from '../../lib/media.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState, Loaded, Notice } from '../../ui/states.tsx'
import { alertColumns, phoneColumns } from './alert-cells.tsx'
import { useAlerts } from './alerts.queries.ts'

/** What the service tells by email or by an event, to whom, and when it last did. */
export function AlertsPage() {
  const query = useAlerts()
  const isPhone = useIsPhone()
  return (
    <>
      <PageHeader
        title="Alerts"
        detail="What Parley tells you by email, and your systems by an event. Your choice of emails applies to all of your workspaces."
      />
      <PageBody>
        <Loaded query={query} what="Alerts" lines={14}>
          {({ sends_mail, data }) => (
            <>
              {!sends_mail && (
                <Notice>
                  This installation sends no emails yet. Your choices apply as soon as its operator sets up a mail
                  server. Events are sent to webhooks anyway.
                </Notice>
              )}
              <DataTable
                label="Alerts"
                list={{ rows: data, error: null, isLoading: false, retry: () => void query.refetch() }}
                rowKey={({ kind }) => kind}
                columns={isPhone ? phoneColumns : alertColumns}
                empty={
                  <EmptyState icon="bell" title="No alerts for your role">
                    Ask an admin of this workspace if you should get some.
                  </EmptyState>
                }
              />
            </>
          )}
        </Loaded>
      </PageBody>
    </>
  )
}
