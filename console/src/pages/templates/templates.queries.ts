import type { NewTemplate, TemplateEdit } from '@parley/contract/console/template-draft'
import type { ConsoleTemplate, TemplateCounts } from '@parley/contract/console/templates'
import { useQueries } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useData, useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'

export const useTemplates = (filters: Readonly<Record<string, string>>) =>
  useList<ConsoleTemplate>(useHere().api('templates'), filters, ['templates'])

export const useTemplate = (id: string) =>
  useData<ConsoleTemplate>(useHere().api(`templates/${id}`), { topics: ['templates'] })

export type Counts = TemplateCounts['data'][number]

/** As many IDs as one request can have. */
const countedAtOnce = 50

/** The counts of each template: undefined while they are loaded, null if they are not known. */
export function useTemplateCounts(ids: readonly string[]) {
  const path = useHere().api('templates/counts')
  const parts = Array.from({ length: Math.ceil(ids.length / countedAtOnce) }, (_, part) =>
    ids.slice(part * countedAtOnce, (part + 1) * countedAtOnce).join(','),
  )
  const results = useQueries({
    queries: parts.map((part) => ({
      queryKey: [path, { ids: part }],
      queryFn: ({ signal }: { signal: AbortSignal }) => api<TemplateCounts>(path, { query: { ids: part }, signal }),
      staleTime: 60_000,
      refetchInterval: 60_000,
    })),
  })
  const known = new Map(results.flatMap(({ data }) => data?.data ?? []).map((counts) => [counts.id, counts]))
  return (id: string): Counts | null | undefined => {
    const result = results[Math.floor(ids.indexOf(id) / countedAtOnce)]
    return known.get(id) ?? (result?.isPending ? undefined : null)
  }
}

export function useCreateTemplate() {
  const templates = useHere().api('templates')
  return useAction((send, template: NewTemplate) => send<ConsoleTemplate>('POST', templates, template), {
    refetch: [templates],
    done: 'Submitted for review',
  })
}

export function useEditTemplate(id: string) {
  const templates = useHere().api('templates')
  return useAction((send, edit: TemplateEdit) => send<ConsoleTemplate>('PATCH', `${templates}/${id}`, edit), {
    refetch: [templates],
    done: 'Submitted for review',
  })
}

export function useDeleteTemplate(id: string) {
  const templates = useHere().api('templates')
  return useAction((send) => send('DELETE', `${templates}/${id}`), { refetch: [templates], done: 'Template deleted' })
}
