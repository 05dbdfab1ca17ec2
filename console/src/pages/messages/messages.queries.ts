import type { ListedMessage, MessageStory, SentReply } from '@parley/contract/console/messages'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useLive } from '../../lib/live.ts'
import { type List, useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'

export type MessageFilters = Partial<
  Record<'q' | 'direction' | 'status' | 'type' | 'sender' | 'template' | 'phone' | 'from' | 'to', string>
>

export function useMessages(filters: MessageFilters) {
  const here = useHere()
  const path = here.api('messages')
  useLive(here.id, ['messages'], [[path]])
  return useList<ListedMessage>(path, filters)
}

/** The story of a message; asked again when something about messages or deliveries changes. */
export function useMessage(id: string) {
  const here = useHere()
  const path = here.api(`messages/${id}`)
  useLive(here.id, ['messages', 'deliveries'], [[path]])
  return useQuery({ queryKey: [path], queryFn: ({ signal }) => api<MessageStory>(path, { signal }) })
}

/** Templates to choose from. */
export function useTemplates() {
  const path = useHere().api('templates')
  const query = { limit: 100 }
  return useQuery({
    queryKey: [path, query, 'choice'],
    queryFn: ({ signal }) => api<List<ConsoleTemplate>>(path, { query, signal }),
    staleTime: 60_000,
  })
}

export const sendMessage = (path: string, body: object) => api<SentReply>(path, { method: 'POST', body })

export const sendAgain = (path: string) => api<SentReply>(path, { method: 'POST' })
