import type { AuditEntry } from '@parley/contract/console/audit'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { download } from '../../lib/download.ts'
import { useLive } from '../../lib/live.ts'
import { useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { useFilters } from '../../lib/url.ts'

export type { AuditEntry }

const filterNames = ['actor', 'action', 'target'] as const

export function useAudit() {
  const here = useHere()
  useLive(here.id, ['audit'], [[here.api('audit')], [here.api('audit/facets')]])
  return useList<AuditEntry>(here.api('audit'), useFilters(...filterNames))
}

/** Who and what there is to filter by. */
export function useFacets() {
  const path = useHere().api('audit/facets')
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api<{ actors: string[]; actions: string[] }>(path, { signal }),
  })
}

export function useExport(): () => Promise<void> {
  const path = useHere().api('audit.csv')
  const filters = useFilters(...filterNames)
  return () => download(path, 'audit.csv', filters)
}
