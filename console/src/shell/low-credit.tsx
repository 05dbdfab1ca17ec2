import type { CreditsReply } from '@parley/contract/console/credits'
import { formatCredits } from '../lib/format.ts'
import { useNotice } from '../lib/notices.ts'
import { useData } from '../lib/query.ts'
import { useCan, useHere } from '../lib/session.ts'

/** Warns on every page once the credits are down to what the workspace said is low. */
export function LowCredit() {
  const here = useHere()
  const mayRead = useCan('credits:read')
  const { data } = useData<CreditsReply>(here.api('credits'), {
    topics: ['credits'],
    enabled: mayRead,
    staleTime: 60_000,
    retry: false,
  })
  const isLow = mayRead && data !== undefined && data.balance <= data.low_balance
  const isOut = isLow && data.balance <= 0
  useNotice(
    here.id,
    'low-credit',
    isLow
      ? {
          tone: isOut ? 'bad' : 'warn',
          title: isOut ? 'The credits are used up.' : `Credits run low: ${formatCredits(data.balance)} left.`,
          detail: isOut ? 'Messages are refused until there are more.' : 'Messages are refused once they are used up.',
          action: { title: 'See credits', to: here.path('credits') },
        }
      : null,
  )
  return null
}
