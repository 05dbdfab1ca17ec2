import type {
  OperatedApp,
  OperatedConnection,
  SetupReport,
  SetupStep,
  SyncReport,
} from '@parley/contract/console/operator'
import type { OperatedWorkspace } from '@parley/contract/console/workspace'
import type { Send } from '../../lib/api.ts'
import { useUnpagedList } from '../../lib/query.ts'
import { toast } from '../../lib/toasts.ts'
import { useAction } from '../../lib/use-action.ts'
import { remedyFor } from '../../parts/sync-remedy.ts'

export type { OperatedApp, OperatedConnection, SetupReport, SetupStep, SyncReport }

const apps = 'operator/apps'
const connections = 'operator/connections'

export const useApps = () => useUnpagedList<OperatedApp>(apps)
export const useConnections = () => useUnpagedList<OperatedConnection>(connections)
export const useWorkspaceNames = () => useUnpagedList<Pick<OperatedWorkspace, 'id' | 'name'>>('operator/workspaces')

interface NewApp {
  name: string
  app_secret: string
  verify_token: string
  graph_url?: string
}

interface NewConnection {
  workspace_id: string
  app_id: string
  waba_id: string
  access_token: string
}

export interface NewSetup {
  workspace_id: string
  app_id: string
  app_secret: string
  access_token: string
  waba_id?: string
  graph_url?: string
}

/** An action on apps or connections. Refetches both. */
const useAppAction = <Input = void, Result = unknown>(
  perform: (send: Send, input: Input) => Promise<Result>,
  done?: (result: Result) => string | undefined,
) => useAction(perform, { refetch: [apps, connections], ...(done ? { done } : {}) })

export const useCreateApp = () => useAppAction((send, app: NewApp) => send<OperatedApp>('POST', apps, app))

/** Reads what is there, and changes nothing. */
export const useCheckSetup = () =>
  useAction((send, setup: NewSetup) => send<SetupReport>('POST', 'operator/setup/check', setup))

export const useSetUp = () =>
  useAppAction(
    (send, setup: NewSetup & { replace_callback: boolean }) => send<SetupReport>('POST', 'operator/setup', setup),
    ({ state }) => (state === 'done' ? 'WhatsApp connected' : undefined),
  )

export const useConnect = () =>
  useAppAction(
    (send, connection: NewConnection) =>
      send<{ connection: OperatedConnection; sync: SyncReport; remark: string | null }>(
        'POST',
        connections,
        connection,
      ),
    ({ connection, sync, remark }) => {
      if (remark) toast.failed(remark)
      if (sync.ok) return `Account ${connection.waba_id} connected`
      toast.failed(`Connected, but the sync failed: ${sync.why} ${remedyFor(sync.why ?? '')}`)
      return undefined
    },
  )

export const useSyncConnection = ({ id, waba_id }: OperatedConnection) =>
  useAppAction(
    (send) => send<SyncReport>('POST', `${connections}/${id}/sync`),
    ({ ok, why }) => {
      if (ok) return `Account ${waba_id} synced`
      toast.failed(why ?? 'The sync failed.')
      return undefined
    },
  )
