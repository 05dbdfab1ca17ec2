import type { ConsoleReplay, NewReplay } from '@parley/contract/console/replays'
import type { Bounded } from '@parley/contract/console/webhooks'
import { plural } from '../../lib/format.ts'
import { useData, useUnpagedList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'

/** The replays of a webhook. Refetched as their events are delivered. */
export const useReplays = (webhookId: string) =>
  useUnpagedList<ConsoleReplay>(useHere().api(`webhooks/${webhookId}/replays`), {}, ['webhooks', 'deliveries'])

/** How many events a replay would cover. */
export const useReplayPreview = (webhookId: string, covered: { since: string; only: string } | null) =>
  useData<Bounded>(useHere().api(`webhooks/${webhookId}/replay_preview`), {
    enabled: covered !== null,
    query: covered ?? {},
  })

export function useStartReplay(webhookId: string) {
  const webhooks = useHere().api('webhooks')
  return useAction(
    (send, replay: NewReplay) => send<ConsoleReplay>('POST', `${webhooks}/${webhookId}/replays`, replay),
    {
      refetch: [webhooks],
      done: ({ total, counting }) => (counting ? 'Replay started' : `Replay of ${plural(total, 'event')} started`),
    },
  )
}

export function useCancelReplay() {
  const here = useHere()
  return useAction((send, id: string) => send<ConsoleReplay>('POST', here.api(`replays/${id}/cancel`)), {
    refetch: [here.api('webhooks')],
    done: 'Replay cancelled',
  })
}
