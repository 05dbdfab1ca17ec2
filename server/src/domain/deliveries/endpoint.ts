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
