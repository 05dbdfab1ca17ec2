import { useFilters, useSearchParam } from '../../lib/url.ts'
import { auditColumns } from '../../parts/audit-columns.tsx'
import { auditFilters } from '../../parts/audit-filters.ts'
import { ExportButton } from '../../parts/export-button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { useAudit, useFacets } from './audit.queries.ts'
import { EntryDrawer } from './entry-drawer.tsx'

export function AuditPage() {
  const filters = useFilters('actor', 'action', 'target', 'from', 'to')
  const list = useAudit(filters)
  const facets = useFacets().data
  const [open, setOpen] = useSearchParam('open', { push: true })
  const entry = list.rows?.find(({ id }) => id === open)
  return (
    <>
      <PageHeader
        title="Audit log"
        detail="Every change, export and download in this workspace: who, when and from where. Entries cannot be edited or deleted."
        actions={<ExportButton file="audit.csv" query={filters} />}
      />
      <PageBody>
        <FilterBar filters={[...auditFilters(facets), { kind: 'text', name: 'target', title: 'Target ID' }]} />
        <DataTable
          label="Audit log"
          list={list}
          rowKey={({ id }) => id}
          onOpen={({ id }) => setOpen(id)}
          openKey={open}
          columns={auditColumns}
          empty={
            Object.keys(filters).length > 0 ? (
              <EmptyState icon="audit" title="No matching entries">
                Remove a filter to see more.
              </EmptyState>
            ) : (
              <EmptyState icon="audit" title="No entries yet">
                Changes to keys, webhooks, the team and settings appear here.
              </EmptyState>
            )
          }
        />
      </PageBody>
      <EntryDrawer entry={entry} isOpen={open !== null && !list.isLoading} onClose={() => setOpen(null)} />
    </>
  )
}
