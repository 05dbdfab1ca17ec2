import type { WorkspaceSettings } from '@parley/contract/console/workspace'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useHere, useRenewSession } from '../../lib/session.ts'

export type { WorkspaceSettings }

export function useSettings() {
  const path = useHere().api('settings')
  return useQuery({ queryKey: [path], queryFn: ({ signal }) => api<WorkspaceSettings>(path, { signal }) })
}

export type SettingsChange = Partial<Pick<WorkspaceSettings, 'name' | 'requires_two_factor' | 'low_balance'>>

export function useChangeSettings() {
  const path = useHere().api('settings')
  const client = useQueryClient()
  const renew = useRenewSession()
  return async (body: SettingsChange) => {
    const after = await api<WorkspaceSettings>(path, { method: 'PATCH', body })
    client.setQueryData([path], after)
    await renew()
  }
}
