import type { ListedMessage } from '@parley/contract/console/messages'
import { type List, useData } from '../../../lib/query.ts'
import { useHere } from '../../../lib/session.ts'

/** The latest inbound message: null if there is none, undefined while loading. */
export function useLatestReceived(): ListedMessage | null | undefined {
  const { data } = useData<List<ListedMessage>>(useHere().api('messages'), {
    query: { direction: 'received', limit: 1 },
    topics: ['messages'],
  })
  return data && (data.data[0] ?? null)
}
