import { auditColumns } from '../../parts/audit-columns.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Stack } from '../../ui/layout.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { useInstallationLog } from './workspaces.queries.ts'

/** Changes to the installation and to people's own accounts. A workspace's changes are in its own audit log. */
export function InstallationLog() {
  return (
    <Stack>
      <p className="quiet">Sign-ins, accounts, apps and prices. Each workspace has its own audit log.</p>
      <DataTable
        label="Installation audit log"
        list={useInstallationLog()}
        rowKey={({ id }) => id}
        columns={auditColumns}
        empty={<EmptyState icon="audit" title="No entries yet" />}
      />
    </Stack>
  )
}
