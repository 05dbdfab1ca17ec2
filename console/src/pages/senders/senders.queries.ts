import type { ConsoleSender } from '@parley/contract/console/senders'
import { useUnpagedList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'

export const useSenders = (filters: Readonly<Record<string, string>>) =>
  useUnpagedList<ConsoleSender>(useHere().api('senders'), filters, ['senders', 'messages'])
