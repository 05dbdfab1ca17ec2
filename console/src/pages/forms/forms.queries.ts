import type { ConsoleForm } from '@parley/contract/console/forms'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useLive } from '../../lib/live.ts'
import { type List, useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'

export function useForms(filters: Partial<Record<'phone' | 'flow' | 'from' | 'to', string>>) {
  const here = useHere()
  const path = here.api('forms')
  useLive(here.id, ['forms', 'messages'], [[path]])
  return useList<ConsoleForm>(path, filters)
}

export function useForm(id: string) {
  const here = useHere()
  const path = here.api(`forms/${id}`)
  useLive(here.id, ['forms', 'messages'], [[path]])
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api<ConsoleForm>(path, { signal }),
    // A file that is on its way tells nobody when it is here.
    refetchInterval: ({ state }) => (state.data?.files.some((file) => file.state.kind === 'waiting') ? 3000 : false),
  })
}

/** The names of templates, by their id. */
export function useTemplateNames(): ReadonlyMap<string, string> {
  const path = useHere().api('templates')
  const query = { limit: 100 }
  const { data } = useQuery({
    queryKey: [path, query, 'choice'],
    queryFn: ({ signal }) => api<List<ConsoleTemplate>>(path, { query, signal }),
    staleTime: 60_000,
  })
  return new Map(data?.data.map(({ id, name }) => [id, name]))
}
