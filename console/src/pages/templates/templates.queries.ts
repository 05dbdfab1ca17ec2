import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useData, useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'

export const useTemplates = (filters: Readonly<Record<string, string>>) =>
  useList<ConsoleTemplate>(useHere().api('templates'), filters, ['templates'])

export const useTemplate = (id: string) =>
  useData<ConsoleTemplate>(useHere().api(`templates/${id}`), { topics: ['templates'] })
