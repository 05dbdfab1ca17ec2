import type { LoggedRequest, LoggedRequests, RequestDetail } from '@parley/contract/console/requests'
import { useInfiniteQuery } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { type Paged, pagedOf, useData } from '../../lib/query.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { useFilters } from '../../lib/url.ts'

export type RequestQuery = Readonly<Record<string, string>>

/** The filters in the URL as API query parameters. */
export function useRequestQuery(): RequestQuery {
  const { q, ...rest } = useFilters('status', 'code', 'method', 'route', 'key', 'address', 'from', 'to', 'q')
  const query = { ...rest, ...searchOf(q) }
  return Object.fromEntries(Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1])))
}

/** The search field takes a request ID, an IP address or a path. */
function searchOf(q: string | undefined): Record<string, string> {
  const text = q?.trim() ?? ''
  if (text === '') return {}
  if (/^(req_)?[0-9a-f]{8}-[0-9a-f-]+$/i.test(text)) return { id: text.toLowerCase() }
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(text) || /^[0-9a-f]*:[0-9a-f:.]+$/i.test(text))
    return { address: text.toLowerCase() }
  return { route: text }
}

export interface Logged extends Paged<LoggedRequest> {
  /** How far back a slow filter has searched; null if it searched everything. */
  searchedTo: string | null
  newestCursor: string | null
  /** Fetches the loaded pages again. Returns the time of the newest request. */
  refetch(): Promise<string>
}

export function useRequests(query: RequestQuery): Logged {
  const here = useHere()
  const path = here.api('requests')
  const result = useInfiniteQuery({
    queryKey: [path, query],
    queryFn: ({ pageParam, signal }) =>
      api<LoggedRequests>(path, { query: { ...query, limit: 50, cursor: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last.has_more ? last.next_cursor : null),
    // Refetching all pages on focus would move the rows below a live tail.
    refetchOnWindowFocus: false,
  })
  return {
    ...pagedOf(result),
    searchedTo: result.data?.pages.at(-1)?.searched_to ?? null,
    newestCursor: result.data?.pages[0]?.newest_cursor ?? null,
    refetch: async () => (await result.refetch({ throwOnError: true })).data?.pages[0]?.data[0]?.at ?? '',
  }
}

export const useRequest = (id: string | null) =>
  useData<RequestDetail>(useHere().api(`requests/${id ?? ''}`), {
    enabled: id !== null,
    // The request does not change, but its message and the deliveries do.
    topics: ['messages', 'deliveries'],
  })

interface KeyChoice {
  id: string
  name: string
}

/** The keys to filter by. */
export const useKeyChoices = (): readonly KeyChoice[] =>
  useData<{ data: KeyChoice[] }>(useHere().api('keys'), { enabled: useCan('keys:read'), staleTime: 60_000 }).data
    ?.data ?? []
