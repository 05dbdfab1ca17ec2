import type { ListTotal } from '@parley/contract/console/list'
import type { Topic } from '@parley/contract/console/topics'
import {
  type InfiniteData,
  MutationCache,
  QueryCache,
  QueryClient,
  type UseInfiniteQueryResult,
  type UseQueryOptions,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query'
import { ApiError, api, isSignedOut, type Query } from './api.ts'
import { useLive } from './live.ts'

/** A list response of the API. */
export interface List<Item> {
  data: Item[]
  has_more: boolean
  next_cursor: string | null
  total?: number
}

export function createQueryClient(onSignedOut: () => void): QueryClient {
  const onError = (error: Error) => {
    if (isSignedOut(error)) onSignedOut()
  }
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        // Retry only when the service cannot be reached; any other error would be the same again.
        retry: (failures, error) =>
          failures < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 502),
        retryDelay: (attempt) => 400 * 2 ** attempt,
      },
    },
  })
}

export interface Paged<Item> {
  rows: Item[] | undefined
  total: number | undefined
  error: Error | null
  isLoading: boolean
  isRefreshing: boolean
  hasMore: boolean
  isLoadingMore: boolean
  loadMore(): void
  retry(): void
}

interface DataOptions<Data>
  extends Pick<
    UseQueryOptions<Data>,
    'enabled' | 'staleTime' | 'refetchInterval' | 'refetchOnWindowFocus' | 'placeholderData' | 'retry'
  > {
  query?: Query
  /** Refetched when one of these topics changes. */
  topics?: readonly Topic[]
}

/** The response of a path of the API. The query key is [path, query], so `useAction` can refetch it by its path. */
export function useData<Data>(path: string, { query = {}, topics = [], ...options }: DataOptions<Data> = {}) {
  useLive(path, options.enabled === false ? [] : topics)
  return useQuery<Data>({
    queryKey: [path, query],
    queryFn: ({ signal }) => api<Data>(path, { query, signal }),
    ...options,
  })
}

/** A paginated list for DataTable. */
export function useList<Item>(path: string, query: Query = {}, topics: readonly Topic[] = []): Paged<Item> {
  useLive(path, topics)
  const result = useInfiniteQuery({
    queryKey: [path, query, 'pages'],
    queryFn: ({ pageParam, signal }) =>
      api<List<Item>>(path, { query: { ...query, limit: 50, cursor: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last.has_more ? last.next_cursor : null),
    placeholderData: (before) => before,
  })
  return pagedOf(result)
}

/** The rows of all pages of a list, until there are at least `enough`. */
export async function readRows<Item>(path: string, enough: number, signal?: AbortSignal): Promise<Item[]> {
  const rows: Item[] = []
  let cursor: string | null = null
  do {
    const page: List<Item> = await api(path, { query: { limit: 100, cursor }, ...(signal && { signal }) })
    rows.push(...page.data)
    cursor = page.has_more ? page.next_cursor : null
  } while (cursor !== null && rows.length < enough)
  return rows
}

/** How many rows of a list match. Fetched apart from the rows, and again when one of `topics` changes. */
export const useTotal = (path: string, query: Query, topics: readonly Topic[], enabled = true) =>
  useData<ListTotal>(`${path}/total`, { query, topics, enabled, placeholderData: (before) => before })

/** The loaded pages of an infinite query, for DataTable. */
export function pagedOf<Item>(result: UseInfiniteQueryResult<InfiniteData<List<Item>>>): Paged<Item> {
  return {
    rows: result.data?.pages.flatMap((page) => page.data),
    total: result.data?.pages[0]?.total,
    error: result.error,
    isLoading: result.isPending,
    isRefreshing: result.isFetching && !result.isPending && !result.isFetchingNextPage,
    hasMore: result.hasNextPage,
    isLoadingMore: result.isFetchingNextPage,
    loadMore: () => void result.fetchNextPage(),
    retry: () => void result.refetch(),
  }
}

/** A list that the API returns without pagination, for DataTable. */
export function useUnpagedList<Item>(path: string, query: Query = {}, topics: readonly Topic[] = []) {
  const result = useData<List<Item>>(path, { query, topics, placeholderData: (before) => before })
  return {
    rows: result.data?.data,
    error: result.error,
    isLoading: result.isPending,
    isRefreshing: result.isFetching && !result.isPending,
    retry: () => void result.refetch(),
  }
}
