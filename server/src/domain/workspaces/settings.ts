import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { refuse, refuseIfAny } from '../../lib/refuse.ts'
import { textErrors } from '../../lib/text-errors.ts'
import { type Settings, settingsOf, updateSettings } from './workspaces.sql.ts'

export type { Settings }

/** Rules of requests, passed in because this module may not import those. */
export interface RequestRules {
  planBodyRemoval(tx: Db, clock: Clock, workspaceId: string): Promise<void>
}

export const readSettings = async (db: Db, workspaceId: string): Promise<Settings> =>
  (await settingsOf(db, workspaceId)) ?? refuse('not_found')

/** Run in a transaction: the settings are locked, so that concurrent changes do not overwrite each other. */
export async function changeSettings(
  db: Db,
  workspaceId: string,
  input: { name?: string; requires_two_factor?: boolean; low_balance?: number; request_inspector?: boolean },
): Promise<{ before: Settings; after: Settings }> {
  const before = (await settingsOf(db, workspaceId, 'for update')) ?? refuse('not_found')
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
