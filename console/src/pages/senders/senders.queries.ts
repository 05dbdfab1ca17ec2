import type { ConsoleSender } from '@parley/contract/console/senders'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useLive } from '../../lib/live.ts'
import type { List } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'

export function useSenders() {
  const here = useHere()
  const path = here.api('senders')
  useLive(here.id, ['senders', 'messages'], [[path]])
  return useQuery({ queryKey: [path], queryFn: ({ signal }) => api<List<ConsoleSender>>(path, { signal }) })
}
