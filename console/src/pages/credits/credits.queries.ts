import type { CreditEntry, CreditsReply, CreditUsage } from '@parley/contract/console/credits'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useLive } from '../../lib/live.ts'
import { useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'

export function useCredits() {
  const here = useHere()
  const path = here.api('credits')
  useLive(here.id, ['credits'], [[path]])
  return useQuery({ queryKey: [path], queryFn: ({ signal }) => api<CreditsReply>(path, { signal }) })
}

export function useUsage() {
  const here = useHere()
  const path = here.api('credits/usage')
  useLive(here.id, ['credits'], [[path]])
  return useQuery({ queryKey: [path], queryFn: ({ signal }) => api<CreditUsage>(path, { signal }) })
}

export function useStatement(filters: Partial<Record<'kind' | 'from' | 'to', string>>) {
  const here = useHere()
  const path = here.api('credits/entries')
  useLive(here.id, ['credits'], [[path]])
  return useList<CreditEntry>(path, filters)
}

export const changeLowBalance = (path: string, lowBalance: number) =>
  api<{ low_balance: number }>(path, { method: 'PATCH', body: { low_balance: lowBalance } })
