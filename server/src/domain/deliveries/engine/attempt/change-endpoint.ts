import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../../db/db.ts'
import { currentMs } from './targets.ts'

/** Longer than `currentMs`, for clocks that do not run at the same speed. */
const untilKnownMs = currentMs + 50

/**
 * Changes the URL, the headers or the secret of an endpoint, or disables or deletes it. The outermost transaction resolves
 * when every process has read the change, or begins no attempt before it does. So no attempt that begins after the response
 * uses the old state.
 */
export const changeEndpoint = <T>(db: Db, change: (tx: Db) => Promise<T>): Promise<T> =>
  db.transaction((tx) => {
    tx.afterCommit(() => sleep(untilKnownMs))
    return change(tx)
  })
