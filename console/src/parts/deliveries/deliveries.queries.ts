import type { Delivery, DeliveryDetail } from '@parley/contract/console/deliveries'
import type { Retried } from '@parley/contract/console/webhooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, type Query } from '../../lib/api.ts'
import { useLive } from '../../lib/live.ts'
import { useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'

/** Which delivery: an event and an endpoint. */
export interface DeliveryName {
  event_id: string
  webhook_id: string
}

/** Deliveries as a list, renewed as they move. */
export function useDeliveries(filters: Query) {
  const here = useHere()
  useLive(here.id, ['deliveries'], [[here.api('deliveries')]])
  return useList<Delivery>(here.api('deliveries'), filters)
}

const pathOf = ({ event_id, webhook_id }: DeliveryName) => `deliveries/${event_id}/${webhook_id}`

/** One delivery with all its attempts. `eager` asks again and again until the first attempt was made. */
export function useDelivery(name: DeliveryName, { eager = false } = {}) {
  const here = useHere()
  const path = here.api(pathOf(name))
  useLive(here.id, ['deliveries', 'webhooks'], [[path]])
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api<DeliveryDetail>(path, { signal }),
    refetchInterval: ({ state }) => (eager && state.data?.tries.length === 0 ? 500 : false),
  })
}

/** Sending once more: one, several, or all that failed since a time. */
export function useRetries() {
  const here = useHere()
  const client = useQueryClient()
  const post = async (path: string, body: unknown = {}) => {
    const { retried } = await api<Retried>(here.api(path), { method: 'POST', body })
    for (const noun of ['deliveries', 'webhooks']) {
      void client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith(here.api(noun)) })
    }
    return retried
  }
  return {
    one: (name: DeliveryName) => post(`${pathOf(name)}/retry`),
    several: (deliveries: readonly DeliveryName[]) => post('deliveries/retry', { deliveries }),
    failedSince: (webhookId: string, since: Date) =>
      post(`webhooks/${webhookId}/recover`, { since: since.toISOString() }),
  }
}
