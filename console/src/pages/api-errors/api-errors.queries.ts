import type {
  ApiErrorDetail,
  ApiErrorFilters,
  ApiErrorGroups,
  ApiErrorQuery,
} from '@parley/contract/console/api-errors'
import { useData } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'

export const useApiErrors = (query: ApiErrorFilters) =>
  useData<ApiErrorGroups>(useHere().api('refusals'), {
    query,
    topics: ['requests'],
    placeholderData: (before) => before,
  })

export const useApiError = (code: string | null, range: ApiErrorQuery) =>
  useData<ApiErrorDetail>(useHere().api(`refusals/${code}`), {
    query: range,
    topics: ['requests'],
    enabled: code !== null,
  })

export function useMute(code: string) {
  const path = useHere().api('refusals')
  return useAction((send, mute: boolean) => send(mute ? 'PUT' : 'DELETE', `${path}/${code}/mute`), {
    refetch: [path],
    done: (_, mute) => (mute ? `${code} muted` : `${code} unmuted`),
  })
}
