import type {
  ChangedKey,
  ConsoleKey,
  GraceHours,
  KeyChange,
  ListedKey,
  MadeKey,
  MyAddress,
  NewKey,
} from '@parley/contract/console/keys'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useLive } from '../../lib/live.ts'
import type { List } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'

/** The keys of the workspace; renewed when one is made, changed or used. */
export function useKeys(filters: { state?: string }) {
  const here = useHere()
  useLive(here.id, ['keys'], [[here.api('keys')]])
  const path = here.api('keys')
  const asked = useQuery({
    queryKey: [path, filters],
    queryFn: ({ signal }) => api<List<ListedKey>>(path, { query: filters, signal }),
    placeholderData: (before) => before,
  })
  return {
    rows: asked.data?.data,
    error: asked.error,
    isLoading: asked.isPending,
    isRefreshing: asked.isFetching && !asked.isPending,
    retry: () => void asked.refetch(),
  }
}

/** What can be done to keys; each renews the list. */
export function useKeyDeeds() {
  const here = useHere()
  const client = useQueryClient()
  const done = async <Answer>(call: Promise<Answer>): Promise<Answer> => {
    const answer = await call
    void client.invalidateQueries({ queryKey: [here.api('keys')] })
    return answer
  }
  const one = (id: string, rest = '') => here.api(`keys/${id}${rest}`)
  return {
    create: (body: NewKey) => done(api<MadeKey>(here.api('keys'), { method: 'POST', body })),
    change: (id: string, body: KeyChange) => done(api<ChangedKey>(one(id), { method: 'PATCH', body })),
    rotate: (id: string, grace_hours: GraceHours) =>
      done(api<MadeKey>(one(id, '/rotate'), { method: 'POST', body: { grace_hours } })),
    revoke: (id: string) => done(api<ConsoleKey>(one(id, '/revoke'), { method: 'POST' })),
  }
}

/** When a new key was first used: asked until it was, and at once when the service says that something changed. */
export function useFirstUse(id: string): ConsoleKey | undefined {
  const here = useHere()
  const path = here.api(`keys/${id}`)
  useLive(here.id, ['keys'], [[path]])
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api<ConsoleKey>(path, { signal }),
    refetchInterval: ({ state }) => (state.data?.last_used_at ? false : 2000),
  }).data
}

/** The address this person comes from, as the service sees it. */
export function useMyAddress(): string | undefined {
  const here = useHere()
  const path = here.api('my-address')
  return useQuery({ queryKey: [path], queryFn: ({ signal }) => api<MyAddress>(path, { signal }), staleTime: 60_000 })
    .data?.address
}
