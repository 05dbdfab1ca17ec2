import type { AuditEntry } from '@parley/contract/console/audit'
import type { Query } from '../../lib/api.ts'
import { useData, useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'

export type { AuditEntry }

export const useAudit = (filters: Query) => useList<AuditEntry>(useHere().api('audit'), filters, ['audit'])

/** The actors and actions to filter by. */
export const useFacets = () =>
  useData<{ actors: string[]; actions: string[] }>(useHere().api('audit/facets'), { topics: ['audit'] })
