import { OperatedUpdate, UpdateList, UpdateQuery } from '@parley/contract/console/network-updates'
import { UpdateId } from '@parley/contract/ids'
import { Type } from 'typebox'
import { type ConsoleRoute, operatorRoute } from '../../http/console/route.ts'
import { withoutPrefix } from '../../lib/ids.ts'
import {
  countUpdatesSince,
  listUpdates,
  requireUpdate,
  toNetworkUpdate,
  toSummary,
  type UpdateSummary,
} from './updates.ts'

const ById = Type.Object({ id: UpdateId }, { additionalProperties: false })
const pageSize = 50

/** For operators: what the network sent and was not understood, in all workspaces and in none. */
export const updateConsoleRoutes = (): ConsoleRoute[] => [
  operatorRoute({
    method: 'GET',
    path: '/operator/updates',
    mayLag: true,
    query: UpdateQuery,
    reply: UpdateList,
    async handle({ db }, { query: { field, outcome, workspace, before } }) {
      const beforeId = before === undefined ? null : (withoutPrefix('upd', before) ?? null)
      const rows = await listUpdates(db, { field, outcome, workspaceId: workspace }, pageSize + 1, beforeId)
      const counts = await countUpdatesSince(db, { workspaceId: workspace }, new Date(0))
      return {
        fields: counts.map(({ lastReceivedAt, ...each }) => ({
          ...each,
          last_received_at: lastReceivedAt.toISOString(),
        })),
        data: rows.slice(0, pageSize).map((row) => ({ ...toSummary(row), ...operated(row) })),
        has_more: rows.length > pageSize,
      }
    },
  }),
  operatorRoute({
    method: 'GET',
    path: '/operator/updates/:id',
    params: ById,
    reply: OperatedUpdate,
    async handle({ db }, { params }) {
      const row = await requireUpdate(db, params.id)
      return { ...toNetworkUpdate(row), ...operated(row) }
    },
  }),
]

const operated = ({ workspaceId, paths }: UpdateSummary) => ({ workspace_id: workspaceId, unread: paths })
