import type { Db } from '../../db/db.ts'

/** The fetcher of this process, by its database: a file that was just announced need not wait for the next look. */
const fetchers = new WeakMap<object, () => void>()

/** To be called once the transaction is committed. */
export const wakeFetcher = (db: Db): void => fetchers.get(db.root)?.()

export function onWake(db: Db, wake: () => void): () => void {
  fetchers.set(db.root, wake)
  return () => void fetchers.delete(db.root)
}
