import type { RefusalDetail, RefusalPeriod, Refusals } from '@parley/contract/console/refusals'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, wordsOf } from '../../lib/api.ts'
import { useLive } from '../../lib/live.ts'
import { useHere } from '../../lib/session.ts'
import { toast } from '../../ui/toasts.tsx'

export function useRefusals(since: RefusalPeriod) {
  const here = useHere()
  const path = here.api('refusals')
  useLive(here.id, ['requests'], [[path]])
  return useQuery({
    queryKey: [path, since],
    queryFn: ({ signal }) => api<Refusals>(path, { query: { since }, signal }),
    placeholderData: keepPreviousData,
  })
}

export function useRefusal(code: string | null, since: RefusalPeriod) {
  const path = useHere().api('refusals')
  return useQuery({
    queryKey: [path, since, code],
    queryFn: ({ signal }) => api<RefusalDetail>(`${path}/${code}`, { query: { since }, signal }),
    enabled: code !== null,
  })
}

export function useMute() {
  const path = useHere().api('refusals')
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ code, mute }: { code: string; mute: boolean }) =>
      api(`${path}/${code}/mute`, { method: mute ? 'PUT' : 'DELETE' }),
    onSuccess: (_answer, { code, mute }) => {
      void client.invalidateQueries({ queryKey: [path] })
      toast.done(mute ? `${code} is folded away` : `${code} is shown again`)
    },
    onError: (error) => toast.failed(wordsOf(error)),
  })
}
