import type { Db } from '../../../db/db.ts'
import type { LeasedDelivery } from './leased-delivery.ts'
import type { Lease } from './publish.sql.ts'

/** Whoever makes the deliveries of this process. */
export interface FirstAttempts {
  /** For deliveries that are about to be written; null if others should take them up. */
  newLease(now: Date): Lease | null
  /** Begins the first attempts of what was written and committed under a lease. */
  take(items: readonly LeasedDelivery[]): void
  /** There is something to claim. */
  wake(): void
}

/** By the database they serve. A process that delivers has one; one that only answers calls has none. */
const workers = new WeakMap<object, FirstAttempts>()

export const workerOf = (db: Db): FirstAttempts | undefined => workers.get(db.root)

/** Somebody should look: this process, if it delivers, else whichever does. */
export function wakeWorker(db: Db, workspaceId: string): void {
  const worker = workerOf(db)
  if (worker) db.afterCommit(() => worker.wake())
  else db.tell(workspaceId, 'due')
}

/** From now on what is published in this process goes to this worker first. Returns how to end that. */
export function hire(db: Db, worker: FirstAttempts): () => void {
  workers.set(db.root, worker)
  return () => workers.delete(db.root)
}
