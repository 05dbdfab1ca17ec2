import type { CreditsReply } from '@parley/contract/console/credits'
import { formatCredits } from '../lib/format.ts'
import { useNotice } from '../lib/notices.ts'
import { useData } from '../lib/query.ts'
import { useCan, useHere, useSession } from '../lib/session.ts'

/** Warns on every page when the balance is at or below the workspace's low-credit warning. */
export function LowCredit() {
  const here = useHere()
  const mayRead = useCan('credits:read')
  const { person } = useSession()
  const { data } = useData<CreditsReply>(here.api('credits'), {
    topics: ['credits'],
    enabled: mayRead,
    staleTime: 60_000,
    retry: false,
  })
  const isLow = mayRead && data !== undefined && data.balance <= data.low_balance
  const isOut = isLow && data.balance <= 0
  const isNew = isOut && !data.had_credits
  useNotice(
    here.id,
    'low-credit',
    isLow
      ? {
          tone: isNew ? 'note' : isOut ? 'bad' : 'warn',
          title: isNew
            ? 'This workspace has no credits yet.'
            : isOut
              ? 'You are out of credits.'
              : `Credits are low: ${formatCredits(data.balance)} left.`,
          detail: isOut
            ? 'Messages are rejected until the operator adds credits.'
            : 'Messages are rejected when the balance reaches 0.',
          action: person.operator
            ? { title: 'Add credits', to: `/operator/workspaces?open=${here.id}` }
            : { title: 'View credits', to: here.path('credits') },
        }
      : null,
  )
  return null
}
