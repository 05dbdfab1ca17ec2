import { databaseNow } from '../../../db/database-clock.ts'
import type { Db } from '../../../db/db.ts'
import { mayDeleteOld } from '../../../db/retention.ts'
import type { Clock } from '../../../lib/clock.ts'
import { firstIdAt } from '../../../lib/ids.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import { addOlderTable, type InboundTables, inboundTables, lockMoving, moveMessages } from './older-messages.sql.ts'

export { holdMoving } from './older-messages.sql.ts'

const dayMs = 86_400_000

/**
 * The network repeats a webhook for up to 7 days. With three days more nearly every repeat finds its message among the recent
 * ones, even after a clock was corrected by a day.
 */
export const recentDays = 10

/**
 * Whether a message that was sent at this time may have been moved. One day less than that, because the clocks of the network and
 * the database differ.
 */
export const mayBeMoved = (sentAt: Date, now: Date): boolean =>
  sentAt.getTime() < now.getTime() - (recentDays - 1) * dayMs

export interface MoveLimits {
  /** A smaller table is left as it is: its indexes fit into memory. About a million messages. */
  recentBytes: number
  /**
   * A table of older messages gets no more messages beyond this size, about 8 million messages, so that its indexes fit
   * into memory while it is filled. Each table costs every read of messages an index look-up, so they are not smaller.
   */
  olderBytes: number
  /** Messages in one transaction, which takes about a second. */
  batch: number
  /** Batches in one run. */
  batches: number
}

export const moveLimits: MoveLimits = {
  recentBytes: 256 * 1024 ** 2,
  olderBytes: 2 * 1024 ** 3,
  batch: 5_000,
  batches: 100,
}

/**
 * Moves inbound messages that are too old to be repeated to tables of their own, so that the indexes that every new message
 * changes stay small. Returns how many were moved. A new table gets messages from the next run on: a query that was planned
 * before the table existed does not read it.
 */
export async function moveOlderMessages(db: Db, clock: Clock, log: Logger, limits = moveLimits): Promise<number> {
  if (!(await mayDeleteOld(db, clock, log))) return 0
  const tables = await inboundTables(db)
  if (tables.recentBytes < limits.recentBytes) return 0
  const table = tableToFill(tables, limits)
  if (table === null) {
    await db.transaction(async (tx) => {
      // Another process may have added one.
      if ((await lockMoving(tx)) && tableToFill(await inboundTables(tx), limits) === null) await addOlderTable(tx)
    })
    return 0
  }
  const before = new Date((await databaseNow(db, clock)).getTime() - recentDays * dayMs)
  let firstId = firstIdAt(new Date(0))
  let total = 0
  for (let batch = 0; batch < limits.batches; batch++) {
    const range = { before, firstId, endId: firstIdAt(before), take: limits.batch }
    const { moved, lastId } = await db.transaction(async (tx) =>
      (await lockMoving(tx)) ? moveMessages(tx, table, range) : { moved: 0, lastId: null },
    )
    total += moved
    if (lastId === null || moved < limits.batch) break
    firstId = lastId
  }
  if (total > 0) log.info({ event: 'messages.moved', messages: total, table }, 'moved older messages')
  return total
}

const tableToFill = ({ older }: InboundTables, limits: MoveLimits): string | null =>
  older !== null && older.bytes < limits.olderBytes ? older.name : null
