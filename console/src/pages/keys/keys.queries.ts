import type { AuditEntry } from '@parley/contract/console/audit'
import type {
  ChangedKey,
  ConsoleKey,
  CreatedKey,
  GraceHours,
  KeyChange,
  ListedKey,
  MyAddress,
  NewKey,
} from '@parley/contract/console/keys'
import type { Send } from '../../lib/api.ts'
import { type List, useData, useUnpagedList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { toast } from '../../lib/toasts.ts'
import { useAction } from '../../lib/use-action.ts'

/** The keys of the workspace. Refetched when one is created, changed or used. */
export const useKeys = (filters: Readonly<Record<string, string>>) =>
  useUnpagedList<ListedKey>(useHere().api('keys'), filters, ['keys'])

/** The latest audit log entries of a key. */
export const useKeyHistory = (id: string) =>
  useData<List<AuditEntry>>(useHere().api('audit'), { query: { target: id, limit: 5 }, topics: ['audit'] })

/** An action on keys. Refetches them. */
function useKeyAction<Input = void, Result = unknown>(
  perform: (send: Send, keys: string, input: Input) => Promise<Result>,
  done?: (result: Result) => string,
) {
  const keys = useHere().api('keys')
  return useAction((send, input: Input) => perform(send, keys, input), { refetch: [keys], ...(done ? { done } : {}) })
}

export const useCreateKey = () => useKeyAction((send, keys, key: NewKey) => send<CreatedKey>('POST', keys, key))

export const useChangeKey = (id: string) =>
  useKeyAction(
    (send, keys, change: KeyChange) => send<ChangedKey>('PATCH', `${keys}/${id}`, change),
    ({ warnings }) => {
      for (const warning of warnings) toast.note(warning)
      return 'Key saved'
    },
  )

export const useRotateKey = (id: string) =>
  useKeyAction((send, keys, grace_hours: GraceHours) =>
    send<CreatedKey>('POST', `${keys}/${id}/rotate`, { grace_hours }),
  )

export const useRevokeKey = (id: string) =>
  useKeyAction(
    (send, keys) => send<ConsoleKey>('POST', `${keys}/${id}/revoke`),
    () => 'Key revoked',
  )

/** Polls a new key until its first request arrives. */
export const useFirstUse = (id: string) =>
  useData<ConsoleKey>(useHere().api(`keys/${id}`), {
    topics: ['keys'],
    refetchInterval: ({ state }) => (state.data?.last_used_at ? false : 2000),
  }).data

/** The client's IP address as the server sees it. */
export const useMyAddress = () => useData<MyAddress>(useHere().api('my-address'), { staleTime: 60_000 }).data?.address
