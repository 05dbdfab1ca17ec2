import { valuesOf } from '@parley/contract/console/list'
import type { Db } from '../../db/db.ts'
import { withoutPrefix } from '../../lib/ids.ts'
import { refuse } from '../../lib/refuse.ts'
import { type Endpoint, endpointById } from './endpoint.sql.ts'

/** The endpoint with this ID. If `workspaceId` is given, the endpoint must belong to that workspace. */
export async function requireEndpoint(db: Db, id: string, workspaceId?: string): Promise<Endpoint> {
  const uuid = withoutPrefix('whk', id)
  const endpoint = uuid === undefined ? undefined : await endpointById(db, uuid)
  if (!endpoint || (workspaceId !== undefined && endpoint.workspaceId !== workspaceId)) return refuse('not_found')
  return endpoint
}

/** The endpoints of a workspace that a filter names; null without a filter. */
export async function endpointIds(db: Db, workspaceId: string, filter: string | undefined): Promise<string[] | null> {
  const ids = valuesOf(filter)
  if (!ids) return null
  return Promise.all(ids.map(async (id) => (await requireEndpoint(db, id, workspaceId)).uuid))
}
