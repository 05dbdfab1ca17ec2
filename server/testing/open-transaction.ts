import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../src/db/db.ts'

/** Runs `work` in a transaction that stays open until `commit` is called. */
export async function openTransaction(
  db: Db,
  work: (tx: Db) => Promise<unknown>,
): Promise<{ commit(): Promise<void> }> {
  const worked = Promise.withResolvers<void>()
  let isOver = false
  const ended = db.transaction(async (tx) => {
    await work(tx)
    worked.resolve()
    // A transaction without a statement for 5 seconds is ended.
    for (; !isOver; await sleep(50)) await tx.rows('select 1')
  })
  await Promise.race([worked.promise, ended])
  return {
    commit() {
      isOver = true
      return ended
    },
  }
}
