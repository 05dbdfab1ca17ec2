import type { ConsoleWebhook } from '@parley/contract/console/webhooks'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import type { List } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'

/** The endpoints to choose from. */
export function useEndpointNames(): readonly { id: string; name: string }[] {
  const path = useHere().api('webhooks')
  const { data } = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api<List<ConsoleWebhook>>(path, { signal }),
  })
  return data?.data ?? []
}
