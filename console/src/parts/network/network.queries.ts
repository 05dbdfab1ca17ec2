import type { ConsoleSender, SyncReply } from '@parley/contract/console/senders'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import type { List } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { toast } from '../../ui/toasts.tsx'

/** Senders to choose from. */
export function useSenderChoice() {
  const path = useHere().api('senders')
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api<List<ConsoleSender>>(path, { signal }),
    staleTime: 60_000,
  })
}

/** Asks the network for senders and templates anew, and says how it went. */
export function useSync() {
  const here = useHere()
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => api<SyncReply>(here.api('sync'), { method: 'POST' }),
    onSuccess: async ({ accounts }) => {
      for (const what of ['senders', 'templates']) await client.invalidateQueries({ queryKey: [here.api(what)] })
      const failed = accounts.find(({ outcome }) => outcome === 'failed')
      if (failed) toast.failed(`The account ${failed.account} could not be synchronised: ${failed.remark}`)
      else if (accounts.length === 0) toast.note('No account is connected yet')
      else toast.done('Up to date with the network')
    },
    onError: (error) => toast.failed(error),
  })
}
