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

/** A list as the service gives it. */
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
        // A refusal will not change by asking again; a service out of reach may be back in a moment.
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
  /** Asked again when the service says that one of these changed. */
  topics?: readonly Topic[]
}

/** What a path of the API answers. Its key is [path, query], so `useAction` refetches it by the path alone. */
export function useData<Data>(path: string, { query = {}, topics = [], ...options }: DataOptions<Data> = {}) {
  useLive(path, options.enabled === false ? [] : topics)
  return useQuery<Data>({
    queryKey: [path, query],
    queryFn: ({ signal }) => api<Data>(path, { query, signal }),
    ...options,
  })
}

/** A list asked page by page, in the shape DataTable takes. */
export function useList<Item>(path: string, query: Query = {}, topics: readonly Topic[] = []): Paged<Item> {
  useLive(path, topics)
  const asked = useInfiniteQuery({
    queryKey: [path, query, 'pages'],
    queryFn: ({ pageParam, signal }) =>
      api<List<Item>>(path, { query: { ...query, limit: 50, cursor: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last.has_more ? last.next_cursor : null),
    placeholderData: (before) => before,
  })
  return pagedOf(asked)
}

/** Pages that were asked one after the other, in the shape DataTable takes. */
export function pagedOf<Item>(asked: UseInfiniteQueryResult<InfiniteData<List<Item>>>): Paged<Item> {
  return {
    rows: asked.data?.pages.flatMap((page) => page.data),
    total: asked.data?.pages[0]?.total,
    error: asked.error,
    isLoading: asked.isPending,
    isRefreshing: asked.isFetching && !asked.isPending && !asked.isFetchingNextPage,
    hasMore: asked.hasNextPage,
    isLoadingMore: asked.isFetchingNextPage,
    loadMore: () => void asked.fetchNextPage(),
    retry: () => void asked.refetch(),
  }
}

/** A list that comes whole, in the shape DataTable takes. */
export function useWhole<Item>(path: string, query: Query = {}, topics: readonly Topic[] = []) {
  const asked = useData<List<Item>>(path, { query, topics, placeholderData: (before) => before })
  return {
    rows: asked.data?.data,
    error: asked.error,
    isLoading: asked.isPending,
    isRefreshing: asked.isFetching && !asked.isPending,
    retry: () => void asked.refetch(),
  }
}
