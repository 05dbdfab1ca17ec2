import type { Erasure } from '@parley/contract/console/erasures'
import type { WorkspaceSettings } from '@parley/contract/console/workspace'
import { useData } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'

export type { WorkspaceSettings }

export const useSettings = () => useData<WorkspaceSettings>(useHere().api('settings'))

/** Refetched while messages change: an erasure in progress changes them. */
export const useErasures = () => useData<{ data: Erasure[] }>(useHere().api('erasures'), { topics: ['messages'] })

type SettingsChange = Partial<
  Pick<WorkspaceSettings, 'name' | 'requires_two_factor' | 'low_balance' | 'request_inspector'>
>

export function useChangeSettings(done: string) {
  const here = useHere()
  return useAction((send, change: SettingsChange) => send<WorkspaceSettings>('PATCH', here.api('settings'), change), {
    refetch: [here.api('settings'), here.api('credits'), 'session'],
    done,
  })
}
