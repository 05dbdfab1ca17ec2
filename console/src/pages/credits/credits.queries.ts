import type { CreditEntry, CreditsReply, CreditUsage } from '@parley/contract/console/credits'
import { useData, useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'

export const useCredits = () => useData<CreditsReply>(useHere().api('credits'), { topics: ['credits'] })
export const useUsage = () => useData<CreditUsage>(useHere().api('credits/usage'), { topics: ['credits'] })

export const useStatement = (filters: Readonly<Record<string, string>>) =>
  useList<CreditEntry>(useHere().api('credits/entries'), filters, ['credits'])

export function useChangeLowBalance() {
  const here = useHere()
  return useAction(
    (send, low_balance: number) => send<{ low_balance: number }>('PATCH', here.api('credits'), { low_balance }),
    { refetch: [here.api('credits'), here.api('settings')], done: 'Low-credit warning saved' },
  )
}
