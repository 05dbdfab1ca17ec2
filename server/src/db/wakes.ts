import type { Db } from './db.ts'

/** How the loops of one kind are woken, each by its database: what was just committed need not wait for the next poll. */
export interface Wakes {
  /** Registers what wakes the loop of this process. Returns how to undo it. */
  on(db: Db, wake: () => void): () => void
  /** Whether this process has such a loop. */
  has(db: Db): boolean
  /** Wakes the loop of this process, if it has one. To be called once the transaction is committed. */
  wake(db: Db): void
}

export function newWakes(): Wakes {
  const loops = new WeakMap<object, () => void>()
  return {
    on(db, wake) {
      loops.set(db.root, wake)
      return () => void loops.delete(db.root)
    },
    has: (db) => loops.has(db.root),
    wake: (db) => loops.get(db.root)?.(),
  }
}
