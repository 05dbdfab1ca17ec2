import type { SentReply } from '@parley/contract/console/messages'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useLive } from '../../lib/live.ts'
import { useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'

export function useTemplates(filters: Partial<Record<'q' | 'status' | 'category' | 'language', string>>) {
  const here = useHere()
  const path = here.api('templates')
  useLive(here.id, ['templates'], [[path]])
  return useList<ConsoleTemplate>(path, filters)
}

export function useTemplate(id: string) {
  const here = useHere()
  const path = here.api(`templates/${id}`)
  useLive(here.id, ['templates'], [[path]])
  return useQuery({ queryKey: [path], queryFn: ({ signal }) => api<ConsoleTemplate>(path, { signal }) })
}

export const sendTemplate = (path: string, body: object) => api<SentReply>(path, { method: 'POST', body })
