import type { ConsoleForm } from '@parley/contract/console/forms'
import { useData, useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { useTemplateChoice } from '../../parts/network.queries.ts'

export const useForms = (filters: Readonly<Record<string, string>>) =>
  useList<ConsoleForm>(useHere().api('forms'), filters, ['forms', 'messages'])

export const useSubmission = (id: string) =>
  useData<ConsoleForm>(useHere().api(`forms/${id}`), {
    topics: ['forms', 'messages'],
    // A finished file download sends no live update, so poll while one is pending.
    refetchInterval: ({ state }) => (state.data?.files.some((file) => file.state.kind === 'waiting') ? 3000 : false),
  })

/** Template names by ID. */
export const useTemplateNames = (): ReadonlyMap<string, string> =>
  new Map(useTemplateChoice().data?.data.map(({ id, name }) => [id, name]))
