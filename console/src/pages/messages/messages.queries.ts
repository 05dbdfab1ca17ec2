import type { ListedMessage, MessageDetail, SentReply } from '@parley/contract/console/messages'
import { useNavigate } from '@tanstack/react-router'
import { useData, useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'

type MessageFilters = Partial<
  Record<'q' | 'direction' | 'status' | 'type' | 'sender' | 'template' | 'phone' | 'user_id' | 'from' | 'to', string>
>

export const useMessages = (filters: MessageFilters) =>
  useList<ListedMessage>(useHere().api('messages'), filters, ['messages'])

/** A message with its timeline. Refetched when a message or delivery changes. */
export const useMessage = (id: string) =>
  useData<MessageDetail>(useHere().api(`messages/${id}`), { topics: ['messages', 'deliveries'] })

/** Sends the same content as a new message, and opens the new message. */
export function useSendAgain(id: string) {
  const here = useHere()
  const navigate = useNavigate()
  return useAction((send) => send<SentReply>('POST', here.api(`messages/${id}/again`)), {
    refetch: [here.api('messages')],
    done: ({ id: newId }) => {
      void navigate({ to: here.path(`messages/${newId}`) })
      return 'Sent as a new message'
    },
  })
}
