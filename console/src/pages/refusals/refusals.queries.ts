import type { RefusalDetail, RefusalPeriod, Refusals } from '@parley/contract/console/refusals'
import { useData } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'

export const useRefusals = (since: RefusalPeriod) =>
  useData<Refusals>(useHere().api('refusals'), {
    query: { since },
    topics: ['requests'],
    placeholderData: (before) => before,
  })

export const useRefusal = (code: string | null, since: RefusalPeriod) =>
  useData<RefusalDetail>(useHere().api(`refusals/${code}`), {
    query: { since },
    topics: ['requests'],
    enabled: code !== null,
  })

export function useMute(code: string) {
  const refusals = useHere().api('refusals')
  return useAction((send, mute: boolean) => send(mute ? 'PUT' : 'DELETE', `${refusals}/${code}/mute`), {
    refetch: [refusals],
    done: (_, mute) => (mute ? `${code} is folded away` : `${code} is shown again`),
  })
}
