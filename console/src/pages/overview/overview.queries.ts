import type { Onboarding, Overview, Period, Problems } from '@parley/contract/console/overview'
import type { Topic } from '@parley/contract/console/topics'
import { useLive } from '../../lib/live.ts'
import { useData } from '../../lib/query.ts'
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

export const useOverview = (period: Period) =>
  useData<Overview>(useHere().api('overview'), {
    query: { period },
    placeholderData: (before) => before,
    refetchInterval: figuresEveryMs,
  })

export const useProblems = () =>
  useData<Problems>(useHere().api('problems'), {
    topics: ['webhooks', 'keys', 'credits', 'senders'],
    refetchInterval: 30_000,
  })

/** Follows the first steps while some are open: the page sees the first request as it is made. */
export function useOnboarding() {
  const path = useHere().api('onboarding')
  const asked = useData<Onboarding>(path)
  const isOver = asked.data?.steps.every(({ done }) => done) ?? false
  useLive(path, isOver ? [] : topics)
  return asked
}
