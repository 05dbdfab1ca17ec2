import { MutationCache, QueryCache, QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ApiError, api, type Query } from './api.ts'

/** A list as the service gives it. */
export interface List<Item> {
  data: Item[]
  has_more: boolean
  next_cursor: string | null
  total?: number
}

export function createQueryClient(onSignedOut: () => void): QueryClient {
  const onError = (error: Error) => {
    if (error instanceof ApiError && error.code === 'not_signed_in') onSignedOut()
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

export interface ListOptions {
  limit?: number
  enabled?: boolean
  /** Asks again every so often, for what no live topic covers. */
  refetchEveryMs?: number
}

/**
 * A list asked page by page, in the shape DataTable takes. Its key is [path, query], so `useLive` renews every list of a
 * noun by the path alone.
 */
export function useList<Item>(path: string, query: Query = {}, options: ListOptions = {}): Paged<Item> {
  const { limit = 50, enabled = true, refetchEveryMs } = options
  const asked = useInfiniteQuery({
    queryKey: [path, query],
    queryFn: ({ pageParam, signal }) =>
      api<List<Item>>(path, { query: { ...query, limit, cursor: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last.has_more ? last.next_cursor : null),
    enabled,
    placeholderData: (before) => before,
    ...(refetchEveryMs ? { refetchInterval: refetchEveryMs } : {}),
  })
  return {
    rows: asked.data?.pages.flatMap((page) => page.data),
    total: asked.data?.pages[0]?.total,
    error: asked.error,
    isLoading: asked.isPending && enabled,
    isRefreshing: asked.isFetching && !asked.isPending && !asked.isFetchingNextPage,
    hasMore: asked.hasNextPage,
    isLoadingMore: asked.isFetchingNextPage,
    loadMore: () => void asked.fetchNextPage(),
    retry: () => void asked.refetch(),
  }
}

/** A list that comes whole, in the shape DataTable takes; its key is [path]. */
export function useWhole<Item>(path: string): Pick<Paged<Item>, 'rows' | 'error' | 'isLoading' | 'retry'> {
  const asked = useQuery({ queryKey: [path], queryFn: ({ signal }) => api<List<Item>>(path, { signal }) })
  return {
    rows: asked.data?.data,
    error: asked.error,
    isLoading: asked.isPending,
    retry: () => void asked.refetch(),
  }
}
