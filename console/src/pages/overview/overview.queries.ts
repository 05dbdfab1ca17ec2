import type { CreditUsage } from '@parley/contract/console/credits'
import type { Onboarding, Overview, Period } from '@parley/contract/console/overview'
import type { Topic } from '@parley/contract/console/topics'
import { useLive } from '../../lib/live.ts'
import { useData } from '../../lib/query.ts'
import { useCan, useHere } from '../../lib/session.ts'

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

/** The overview is expensive to compute, so it is polled at this interval instead of on every live update, except those of endpoints, which are rare. */
const figuresEveryMs = 10_000
const beforeEveryMs = 600_000

export const useOverview = (period: Period) =>
  useData<Overview>(useHere().api('overview'), {
    query: { period },
    topics: ['webhooks'],
    placeholderData: (before) => before,
    refetchInterval: figuresEveryMs,
  })

/** The period before. It is over, so it is rarely read again. */
export const useOverviewBefore = (period: Period) =>
  useData<Overview>(useHere().api('overview/before'), {
    query: { period },
    staleTime: beforeEveryMs,
    refetchInterval: beforeEveryMs,
  })

/** The credits of each day, for those who may see them. */
export const useCreditDays = () =>
  useData<CreditUsage>(useHere().api('credits/usage'), { enabled: useCan('credits:read'), refetchInterval: 60_000 })

/** Gets live updates until all steps are done, so that the first request shows immediately. */
export function useOnboarding() {
  const path = useHere().api('onboarding')
  const query = useData<Onboarding>(path)
  const isComplete = query.data?.steps.every(({ done }) => done) ?? false
  useLive(path, isComplete ? [] : topics)
  return query
}
