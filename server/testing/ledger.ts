import type { Db } from '../src/db/db.ts'
import type { EntryRow } from '../src/domain/credits/credits.ts'

/** The credit entries of a workspace, newest first. */
export const ledgerOf = (db: Db, workspaceId: string): Promise<EntryRow[]> =>
  db.rows('select * from credit_entries where workspace_id = $1 order by created_at desc, id desc', [workspaceId])
