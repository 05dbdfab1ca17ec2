import { useFilters } from '../../lib/url.ts'
import { auditColumns } from '../../parts/audit-columns.tsx'
import { auditFilters } from '../../parts/audit-filters.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Stack } from '../../ui/layout.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { useInstallationFacets, useInstallationLog } from './workspaces.queries.ts'

/** Changes to the installation and to people's own accounts. A workspace's changes are in its own audit log. */
export function InstallationLog() {
  const filters = useFilters('actor', 'action', 'from', 'to')
  return (
    <Stack>
      <p className="quiet">
        Sign-ins and failed attempts, accounts, apps and prices. Each workspace has its own audit log.
      </p>
      <FilterBar filters={auditFilters(useInstallationFacets().data)} />
      <DataTable
        label="Installation audit log"
        list={useInstallationLog(filters)}
        rowKey={({ id }) => id}
        columns={auditColumns}
        empty={
          <EmptyState icon="audit" title={Object.keys(filters).length > 0 ? 'No matching entries' : 'No entries yet'} />
        }
      />
    </Stack>
  )
}
