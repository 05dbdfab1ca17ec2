import type { Db } from '../../../db/db.ts'
import type { Lease } from './publish.sql.ts'
import type { Item } from './leased-delivery.ts'

/** Whoever makes the deliveries of this process. */
export interface FirstAttempts {
  /** For deliveries that are about to be written; null if others should take them up. */
  newLease(now: Date): Lease | null
  /** Begins the first attempts of what was written and committed under a lease. */
  take(items: readonly Item[]): void
  /** There is something to claim. */
  wake(): void
}

/** By the database they serve. A process that delivers has one; one that only answers calls has none. */
const couriers = new WeakMap<object, FirstAttempts>()

export const courierOf = (db: Db): FirstAttempts | undefined => couriers.get(db.root)

/** Somebody should look: this process, if it delivers, else whichever does. */
export function wakeCourier(db: Db, workspaceId: string): void {
  const courier = courierOf(db)
  if (courier) db.afterCommit(() => courier.wake())
  else db.tell(workspaceId, 'due')
}

/** From now on what is published in this process goes to this courier first. Returns how to end that. */
export function hire(db: Db, courier: FirstAttempts): () => void {
  couriers.set(db.root, courier)
  return () => couriers.delete(db.root)
}
