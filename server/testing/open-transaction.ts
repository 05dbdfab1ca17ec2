import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../src/db/db.ts'
import { until } from './until.ts'

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

/**
 * Waits until `GET /v1/events` returns everything that is committed: until older transactions have ended, also those of other
 * databases of the same PostgreSQL.
 */
export async function untilReadable(db: Db): Promise<void> {
  const { next } =
    (await db.first<{ next: string }>('select pg_snapshot_xmax(pg_current_snapshot())::text as next')) ?? {}
  await until('all older transactions have ended', () =>
    db.first('select 1 where pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8', [next]),
  )
}
