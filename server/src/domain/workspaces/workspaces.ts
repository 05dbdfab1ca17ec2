import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { isUuid, newUuid } from '../../lib/ids.ts'
import { refuse, refuseIfAny, refuseParam } from '../../lib/refuse.ts'
import { textErrors } from '../../lib/text-errors.ts'
import {
  allWorkspaces,
  insertWorkspace,
  lockEndpointsMax,
  setEndpointsMax,
  setSuspended,
  type WorkspaceRow,
  workspaceById,
} from './workspaces.sql.ts'

/** The highest limit on the endpoints of a workspace. A new workspace may have 100. */
const endpointsMaxMax = 10_000

export interface Workspace {
  id: string
  name: string
  createdAt: Date
  suspended: { at: Date; reason: string } | null
  /** At or below this balance, the workspace is warned. */
  lowBalance: number
}

export async function createWorkspace(db: Db, clock: Clock, name: string): Promise<Workspace> {
  const trimmed = name.trim()
  refuseIfAny(textErrors('name', trimmed, 100))
  const createdAt = clock.now()
  const id = newUuid(createdAt.getTime())
  await insertWorkspace(db, id, trimmed, createdAt)
  return requireWorkspace(db, id)
}

export async function listWorkspaces(db: Db): Promise<Workspace[]> {
  return (await allWorkspaces(db)).map(toWorkspace)
}

export async function requireWorkspace(db: Db, id: string): Promise<Workspace> {
  const row = isUuid(id) ? await workspaceById(db, id) : undefined
  return row ? toWorkspace(row) : refuse('not_found', { message: `Workspace ${id} not found.` })
}

/** Refuses the workspace's keys from the next request on. Deletes nothing. */
export async function suspendWorkspace(db: Db, clock: Clock, id: string, reason: string): Promise<Workspace> {
  const trimmed = reason.trim()
  if (trimmed === '') refuseParam('reason', 'too_short', 'Enter the reason for the suspension.')
  const workspace = await requireWorkspace(db, id)
  const at = clock.now()
  await setSuspended(db, id, at, trimmed)
  return { ...workspace, suspended: { at, reason: trimmed } }
}

export async function resumeWorkspace(db: Db, id: string): Promise<Workspace> {
  const workspace = await requireWorkspace(db, id)
  await setSuspended(db, id, null, null)
  return { ...workspace, suspended: null }
}

/** Sets how many webhook endpoints the workspace may have. Existing ones stay. */
export async function limitEndpoints(db: Db, id: string, max: number): Promise<Workspace> {
  if (!Number.isInteger(max) || max < 1 || max > endpointsMaxMax) {
    refuseParam('webhooks', 'invalid', `Enter a whole number from 1 to ${endpointsMaxMax}.`)
  }
  const workspace = await requireWorkspace(db, id)
  await setEndpointsMax(db, id, max)
  return workspace
}

/** The limit on the workspace's endpoints. Until the transaction ends, no other one is created. */
export const endpointsMax = async (db: Db, id: string): Promise<number> =>
  (await lockEndpointsMax(db, id)) ?? refuse('not_found', { message: `Workspace ${id} not found.` })

function toWorkspace(row: WorkspaceRow): Workspace {
  const suspended = row.suspended_at && { at: row.suspended_at, reason: row.suspended_reason ?? '' }
  return { id: row.id, name: row.name, createdAt: row.created_at, suspended, lowBalance: row.low_balance }
}
