import type { Problems } from '@parley/contract/console/overview'
import { useData } from '../lib/query.ts'
import { useHere } from '../lib/session.ts'

/** What needs attention in the workspace of the URL. */
export function useProblems() {
  const here = useHere()
  return useData<Problems>(here.api('problems'), {
    topics: ['webhooks', 'keys', 'credits', 'senders'],
    refetchInterval: 30_000,
    enabled: here.id !== '',
  })
}
