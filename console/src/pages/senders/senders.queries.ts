import type { ConsoleSender } from '@parley/contract/console/senders'
import { useWhole } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'

export const useSenders = () => useWhole<ConsoleSender>(useHere().api('senders'), {}, ['senders', 'messages'])
