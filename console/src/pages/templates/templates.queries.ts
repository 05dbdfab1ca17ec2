import type { SentReply } from '@parley/contract/console/messages'
import type { ConsoleSender, SyncReply } from '@parley/contract/console/senders'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useLive } from '../../lib/live.ts'
import { type List, useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { toast } from '../../ui/toasts.tsx'

export function useTemplates(filters: Partial<Record<'q' | 'status' | 'category' | 'language', string>>) {
  const here = useHere()
  const path = here.api('templates')
  useLive(here.id, ['templates'], [[path]])
  return useList<ConsoleTemplate>(path, filters)
}

export function useTemplate(id: string) {
  const here = useHere()
  const path = here.api(`templates/${id}`)
  useLive(here.id, ['templates'], [[path]])
  return useQuery({ queryKey: [path], queryFn: ({ signal }) => api<ConsoleTemplate>(path, { signal }) })
}

export function useSenders() {
  const path = useHere().api('senders')
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api<List<ConsoleSender>>(path, { signal }),
    staleTime: 60_000,
  })
}

/** Asks the network anew. */
export function useSync() {
  const here = useHere()
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => api<SyncReply>(here.api('sync'), { method: 'POST' }),
    onSuccess: async ({ accounts }) => {
      await client.invalidateQueries({ queryKey: [here.api('templates')] })
      const failed = accounts.find(({ outcome }) => outcome === 'failed')
      if (failed) toast.failed(`The account ${failed.account} could not be synchronised: ${failed.remark}`)
      else if (accounts.length === 0) toast.note('No account is connected yet')
      else toast.done('Up to date with the network')
    },
    onError: (error) => toast.failed(error),
  })
}

export const sendTemplate = (path: string, body: object) => api<SentReply>(path, { method: 'POST', body })
