import type { ListedMessage, MessageDetail, SentReply } from '@parley/contract/console/messages'
import { useNavigate } from '@tanstack/react-router'
import { useData, useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'

type MessageFilters = Partial<
  Record<'q' | 'direction' | 'status' | 'type' | 'sender' | 'template' | 'phone' | 'from' | 'to', string>
>

export const useMessages = (filters: MessageFilters) =>
  useList<ListedMessage>(useHere().api('messages'), filters, ['messages'])

/** The story of a message; asked again when something about messages or deliveries changes. */
export const useMessage = (id: string) =>
  useData<MessageDetail>(useHere().api(`messages/${id}`), { topics: ['messages', 'deliveries'] })

/** Sends the same as a new message, and opens that one. */
export function useSendAgain(id: string) {
  const here = useHere()
  const navigate = useNavigate()
  return useAction((send) => send<SentReply>('POST', here.api(`messages/${id}/again`)), {
    refetch: [here.api('messages')],
    done: (made) => {
      void navigate({ to: here.path(`messages/${made.id}`) })
      return 'Sent again, as a new message'
    },
  })
}
