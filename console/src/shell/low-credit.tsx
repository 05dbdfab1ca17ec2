import type { CreditsReply } from '@parley/contract/console/credits'
import { useQuery } from '@tanstack/react-query'
import { api } from '../lib/api.ts'
import { formatCredits } from '../lib/format.ts'
import { useLive } from '../lib/live.ts'
import { useNotice } from '../lib/notices.ts'
import { useCan, useHere } from '../lib/session.ts'

/** Warns on every page once the credits are down to what the workspace said is low. */
export function LowCredit() {
  const here = useHere()
  const mayRead = useCan('credits:read')
  const path = here.api('credits')
  useLive(mayRead ? here.id : '', ['credits'], [[path]])
  const { data } = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api<CreditsReply>(path, { signal }),
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
