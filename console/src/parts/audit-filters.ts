import { actionLabel } from '../lib/audit-actions.ts'
import type { Filter } from '../ui/filter-bar.tsx'

/** The actors and actions to filter by. */
export interface AuditFacets {
  actors: string[]
  actions: string[]
}

/** The filters of the audit log of a workspace and of the installation. */
export const auditFilters = (facets: AuditFacets | undefined): Filter[] => [
  {
    kind: 'select',
    name: 'actor',
    title: 'Person',
    options: (facets?.actors ?? []).map((actor) => ({ value: actor, title: actor })),
  },
  {
    kind: 'select',
    name: 'action',
    title: 'Action',
    options: (facets?.actions ?? []).map((action) => ({ value: action, title: actionLabel(action) })),
  },
  { kind: 'dates', title: 'Time' },
]
