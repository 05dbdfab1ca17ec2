import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { refuse, refuseIfAny } from '../../lib/refuse.ts'
import { textErrors } from '../../lib/text-errors.ts'
import { lockSettings, type SettingsRow, settingsOf, updateSettings } from './workspaces.sql.ts'

/** The settings of a workspace, which its admins change. */
export interface Settings {
  id: string
  name: string
  requiresTwoFactor: boolean
  lowBalance: number
  requestInspector: boolean
  createdAt: Date
}

/** Rules of requests, passed in because this module may not import those. */
export interface RequestRules {
  planBodyRemoval(tx: Db, clock: Clock, workspaceId: string): Promise<void>
}

export async function readSettings(db: Db, workspaceId: string): Promise<Settings> {
  return toSettings((await settingsOf(db, workspaceId)) ?? refuse('not_found'))
}

/** Run in a transaction: the settings are locked, so that concurrent changes do not overwrite each other. */
export async function changeSettings(
  db: Db,
  workspaceId: string,
  input: { name?: string; requires_two_factor?: boolean; low_balance?: number; request_inspector?: boolean },
): Promise<{ before: Settings; after: Settings }> {
  const before = toSettings((await lockSettings(db, workspaceId)) ?? refuse('not_found'))
  const name = (input.name ?? before.name).trim()
  refuseIfAny(textErrors('name', name, 100))
  const after = {
    ...before,
    name,
    requiresTwoFactor: input.requires_two_factor ?? before.requiresTwoFactor,
    lowBalance: input.low_balance ?? before.lowBalance,
    requestInspector: input.request_inspector ?? before.requestInspector,
  }
  await updateSettings(db, workspaceId, after)
  return { before, after }
}

const toSettings = (row: SettingsRow): Settings => ({
  id: row.id,
  name: row.name,
  requiresTwoFactor: row.requires_two_factor,
  lowBalance: row.low_balance,
  requestInspector: row.inspects_requests,
  createdAt: row.created_at,
})
