import type { Onboarding, Overview, Period, Problems } from '@parley/contract/console/overview'
import type { Topic } from '@parley/contract/console/topics'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useLive } from '../../lib/live.ts'
import { useHere } from '../../lib/session.ts'

const topics: readonly Topic[] = [
  'messages',
  'requests',
  'deliveries',
  'webhooks',
  'keys',
  'credits',
  'senders',
  'team',
]

/** Figures are sums over much; news only marks them as old, and they are asked for again at most this often. */
const figuresEveryMs = 10_000

export function useOverview(period: Period) {
  const path = useHere().api('overview')
  return useQuery({
    queryKey: [path, period],
    queryFn: ({ signal }) => api<Overview>(path, { query: { period }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: figuresEveryMs,
  })
}

export function useProblems() {
  const here = useHere()
  const path = here.api('problems')
  useLive(here.id, ['webhooks', 'keys', 'credits', 'senders'], [[path]])
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api<Problems>(path, { signal }),
    refetchInterval: 30_000,
  })
}

/** Follows the first steps while some are open: the page sees the first request as it is made. */
export function useOnboarding() {
  const here = useHere()
  const path = here.api('onboarding')
  const asked = useQuery({ queryKey: [path], queryFn: ({ signal }) => api<Onboarding>(path, { signal }) })
  const isOver = asked.data?.steps.every(({ done }) => done) ?? false
  useLive(isOver ? '' : here.id, topics, [[path]])
  return asked
}
