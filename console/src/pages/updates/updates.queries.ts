import type { OperatedUpdate, UpdateList } from '@parley/contract/console/network-updates'
import type { Query } from '../../lib/api.ts'
import { useData } from '../../lib/query.ts'

export type { OperatedUpdate }
export type UpdateRow = UpdateList['data'][number]
export type FieldCount = UpdateList['fields'][number]

const updates = 'operator/updates'

/** A page of updates, newest first, and the counts of all. */
export const useUpdates = (query: Query) =>
  useData<UpdateList>(updates, { query, refetchInterval: 30_000, placeholderData: (before) => before })

export const useUpdate = (id: string | null) => useData<OperatedUpdate>(`${updates}/${id}`, { enabled: id !== null })
