import type { AuditEntry } from '@parley/contract/console/audit'
import type { Query } from '../../lib/api.ts'
import { useData, useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import type { AuditFacets } from '../../parts/audit-filters.ts'

export type { AuditEntry }

export const useAudit = (filters: Query) => useList<AuditEntry>(useHere().api('audit'), filters, ['audit'])

export const useFacets = () => useData<AuditFacets>(useHere().api('audit/facets'), { topics: ['audit'] })
