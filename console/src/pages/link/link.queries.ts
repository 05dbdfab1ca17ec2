import type { LinkReply, NextStep } from '@parley/contract/console/session'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'

export function useLinkDetails(token: string) {
  return useQuery({
    queryKey: ['links', token],
    queryFn: ({ signal }) => api<LinkReply>(`links/${encodeURIComponent(token)}`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export const followLink = (token: string, body: { name?: string; email?: string; password: string }) =>
  api<NextStep>(`links/${encodeURIComponent(token)}`, { method: 'POST', body })
