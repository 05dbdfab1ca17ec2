import type { OperatedApp, OperatedConnection, SyncReport } from '@parley/contract/console/operator'
import type { OperatedWorkspace } from '@parley/contract/console/workspace'
import { useQueryClient } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useWhole } from '../../lib/query.ts'

export type { OperatedApp, OperatedConnection, SyncReport }

const apps = 'operator/apps'
const connections = 'operator/connections'

export const useApps = () => useWhole<OperatedApp>(apps)
export const useConnections = () => useWhole<OperatedConnection>(connections)
export const useWorkspaceNames = () => useWhole<Pick<OperatedWorkspace, 'id' | 'name'>>('operator/workspaces')

export interface AppWish {
  name: string
  app_secret: string
  verify_token: string
  graph_url?: string
}

export interface ConnectionWish {
  workspace_id: string
  app_id: string
  waba_id: string
  access_token: string
}

export function useAppDeeds() {
  const client = useQueryClient()
  const renewed = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    try {
      return await answer
    } finally {
      await Promise.all([apps, connections].map((path) => client.invalidateQueries({ queryKey: [path] })))
    }
  }
  return {
    createApp: (body: AppWish) => renewed(api<OperatedApp>(apps, { method: 'POST', body })),
    connect: (body: ConnectionWish) =>
      renewed(api<{ connection: OperatedConnection; sync: SyncReport }>(connections, { method: 'POST', body })),
    sync: (id: string) => renewed(api<SyncReport>(`${connections}/${id}/sync`, { method: 'POST' })),
  }
}
