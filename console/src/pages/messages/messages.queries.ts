import type { ListedMessage, MessageDetail, ReplyWindow, SentReply } from '@parley/contract/console/messages'
import { useNavigate } from '@tanstack/react-router'
import { useData, useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import type { Person } from '../../parts/recipient.tsx'

export const useMessages = (filters: Readonly<Record<string, string>>) =>
  useList<ListedMessage>(useHere().api('messages'), filters, ['messages'])

/** A message with its timeline. Refetched when a message or delivery changes. */
export const useMessage = (id: string) =>
  useData<MessageDetail>(useHere().api(`messages/${id}`), { topics: ['messages', 'deliveries'] })

/** The 24-hour window of a conversation. Not requested until the number could be complete. */
export function useReplyWindow(senderId: string | null, phone: string) {
  const isComplete = senderId !== null && /^\+?[1-9]\d{6,14}$/.test(phone)
  return useData<ReplyWindow>(useHere().api('reply_window'), {
    query: { sender: senderId ?? '', phone },
    topics: ['messages'],
    enabled: isComplete,
  })
}

/** Opens the dialog for sending a template to a person. */
export const templateLink = (person: Person, senderId: string) =>
  `messages?${new URLSearchParams({ send: 'template', ...person, sender: senderId })}`

/** Marks a received message as read on the person's phone. */
export function useMarkAsRead(id: string) {
  const here = useHere()
  return useAction((send) => send<null>('POST', here.api(`messages/${id}/read`)), { done: 'Marked as read' })
}

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
