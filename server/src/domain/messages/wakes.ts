import type { Db } from '../../db/db.ts'

/** The outbox of this process, by its database: a message that was just taken need not wait for the next look. */
const outboxes = new WeakMap<object, () => void>()

/** To be called once the transaction is committed. */
export const wakeOutbox = (db: Db): void => outboxes.get(db.root)?.()

export function onWake(db: Db, wake: () => void): () => void {
  outboxes.set(db.root, wake)
  return () => void outboxes.delete(db.root)
}
