import type { Db } from '../db.ts'
import { withIndexLookups, withSettings } from '../planner-settings.ts'

/**
 * Limits how long a transaction waits for another that has the same messages. This is less than PostgreSQL lets a transaction
 * be idle: if this process is frozen, its transactions that wait must end before the one they wait for, or each of them would
 * get the locks in turn and keep them for as long again. A second try is enough for the locks of another process that is frozen.
 */
const lockLimit = `select set_config('lock_timeout', '4000', true)`

/** Runs `work`, which looks up rows by their keys, in a transaction that waits for locks only for a short time, and tries once more. */
export async function inBriefTransaction<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  const run = () => db.transaction((outer) => withSettings(outer, lockLimit, [], (tx) => withIndexLookups(tx, work)))
  return run().catch((error: unknown) => {
    if (!isLockTimeout(error)) throw error
    return run()
  })
}

/** A statement has waited for a lock for as long as it may. Nothing was changed. */
export const isLockTimeout = (error: unknown): boolean => (error as { code?: string }).code === '55P03'
