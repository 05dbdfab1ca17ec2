import type { Db } from '../../db/db.ts'
import { newWakes } from '../../db/wakes.ts'

const syncLoops = newWakes()
const releaseLoops = newWakes()

/** Registers what wakes this process's sync loop. Returns how to undo it. */
export const onSyncDue = syncLoops.on

/** The same for the loop that releases parked updates. */
export const onSynced = releaseLoops.on

/** After the commit, wakes the sync loop of this process, or of the processes that have one. */
export function wakeSync(db: Db, workspaceId: string): void {
  if (syncLoops.has(db)) db.afterCommit(() => syncLoops.wake(db))
  else db.tell(workspaceId, 'sync_due')
}

/** Another process says that a sync is due. */
export const wakeSyncHere = syncLoops.wake

/** After the commit, wakes the loop that releases parked updates, if this process has it. */
export const wakeRelease = (db: Db): void => db.afterCommit(() => releaseLoops.wake(db))
