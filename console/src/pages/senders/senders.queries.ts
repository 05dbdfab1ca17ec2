import type { ConsoleSender } from '@parley/contract/console/senders'
import { useUnpagedList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'

export const useSenders = () => useUnpagedList<ConsoleSender>(useHere().api('senders'), {}, ['senders', 'messages'])
