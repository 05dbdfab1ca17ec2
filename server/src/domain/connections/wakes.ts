import type { Db } from '../../db/db.ts'

/** The loops of this process, by their database: what was just committed need not wait for the next poll. */
const syncLoops = new WeakMap<object, () => void>()
const releaseLoops = new WeakMap<object, () => void>()

const register = (loops: WeakMap<object, () => void>) => (db: Db, wake: () => void) => {
  loops.set(db.root, wake)
  return () => void loops.delete(db.root)
}

/** Registers what wakes this process's sync loop. Returns how to undo it. */
export const onSyncDue = register(syncLoops)

/** The same for the loop that releases parked updates. */
export const onSynced = register(releaseLoops)

/** After the commit, wakes the sync loop of this process, or of the processes that have one. */
export function wakeSync(db: Db, workspaceId: string): void {
  const wake = syncLoops.get(db.root)
  if (wake) db.afterCommit(wake)
  else db.tell(workspaceId, 'sync_due')
}

/** Another process says that a sync is due. */
export const wakeSyncHere = (db: Db): void => syncLoops.get(db.root)?.()

/** After the commit, wakes the loop that releases parked updates, if this process has it. */
export function wakeRelease(db: Db): void {
  const wake = releaseLoops.get(db.root)
  if (wake) db.afterCommit(wake)
}
