import type { Delivery, DeliveryDetail, RetriedMatching, RetryMatchingInput } from '@parley/contract/console/deliveries'
import type { Retried } from '@parley/contract/console/webhooks'
import type { Query, Send } from '../../lib/api.ts'
import { plural } from '../../lib/format.ts'
import { useData, useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { toast } from '../../lib/toasts.ts'
import { useAction } from '../../lib/use-action.ts'

/** A delivery is identified by its event and its webhook. */
export interface DeliveryName {
  event_id: string
  webhook_id: string
}

/** The list of deliveries, with live updates. */
export const useDeliveries = (filters: Query) => useList<Delivery>(useHere().api('deliveries'), filters, ['deliveries'])

const pathOf = ({ event_id, webhook_id }: DeliveryName) => `deliveries/${event_id}/${webhook_id}`

/** A delivery with all its attempts. `eager` polls until the first attempt was made. */
export const useDelivery = (name: DeliveryName, { eager = false } = {}) =>
  useData<DeliveryDetail>(useHere().api(pathOf(name)), {
    topics: ['deliveries', 'webhooks'],
    refetchInterval: ({ state }) => (eager && state.data?.tries.length === 0 ? 500 : false),
  })

/** Retries deliveries and refetches deliveries and webhooks. */
function useRetryAction<Input>(
  perform: (post: (path: string, body?: object) => Promise<Retried>, input: Input) => Promise<Retried>,
  done: (retried: Retried) => string | undefined,
) {
  const here = useHere()
  const poster = (send: Send) => (path: string, body?: object) => send<Retried>('POST', here.api(path), body)
  return useAction((send, input: Input) => perform(poster(send), input), {
    refetch: [here.api('deliveries'), here.api('webhooks')],
    done,
  })
}

export const useRetry = (name: DeliveryName) =>
  useRetryAction<void>(
    (post) => post(`${pathOf(name)}/retry`),
    () => 'Retry queued',
  )

/** The API takes at most this many in one request. */
const batchSize = 100

export const useRetrySeveral = () =>
  useRetryAction(
    async (post, deliveries: readonly DeliveryName[]) => {
      let retried = 0
      for (let from = 0; from < deliveries.length; from += batchSize) {
        retried += (await post('deliveries/retry', { deliveries: deliveries.slice(from, from + batchSize) })).retried
      }
      return { retried, more: false }
    },
    ({ retried }) => `${plural(retried, 'retry', 'retries')} queued`,
  )

/** Retries all deliveries that match the filters of the list, batch by batch. `onQueued` gets how many are queued so far. */
export function useRetryMatching(onQueued: (count: number) => void) {
  const here = useHere()
  return useAction(
    async (send, filters: RetryMatchingInput['filters']) => {
      let queued = 0
      let cursor: string | null = null
      onQueued(0)
      do {
        const body: RetryMatchingInput = { filters, ...(cursor && { cursor }) }
        const step: RetriedMatching = await send('POST', here.api('deliveries/retry_matching'), body)
        queued += step.retried
        onQueued(queued)
        cursor = step.next_cursor
      } while (cursor)
      return queued
    },
    {
      refetch: [here.api('deliveries'), here.api('webhooks')],
      done: (queued) =>
        queued === 0 ? 'No deliveries match any more' : `${plural(queued, 'retry', 'retries')} queued`,
    },
  )
}

/** Retries all deliveries of a webhook that failed since a time. */
export const useRecover = (webhookId: string) =>
  useRetryAction(
    (post, since: string) => post(`webhooks/${webhookId}/recover`, { since }),
    ({ retried, more }) => {
      if (more) return 'Retries are being queued in the background'
      if (retried > 0) return `${plural(retried, 'retry', 'retries')} queued`
      toast.note('No failed deliveries in that period')
      return undefined
    },
  )
