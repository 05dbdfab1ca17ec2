import { auditColumns } from '../../parts/audit-columns.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Stack } from '../../ui/layout.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { useInstanceLog } from './workspaces.queries.ts'

/** What was done to the installation and by people to their own accounts; what concerns a workspace is in its own log. */
export function InstanceLog() {
  return (
    <Stack>
      <p className="quiet">
        Signing in, accounts, apps and prices. What was done to a workspace is in that workspace’s own audit log.
      </p>
      <DataTable
        label="Log of the installation"
        list={useInstanceLog()}
        rowKey={({ id }) => id}
        columns={auditColumns}
        empty={<EmptyState icon="audit" title="Nothing on record yet" />}
      />
    </Stack>
  )
}
