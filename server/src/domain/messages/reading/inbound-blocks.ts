/**
 * Counts inbound messages block by block, for the total of a list and for filters that match few messages. Receiving a message
 * costs nothing for it: maintenance counts messages some minutes later. The latest ones are counted when a list is read.
 */
import { databaseNow } from '../../../db/database-clock.ts'
import type { Db } from '../../../db/db.ts'
import { withPlannerSettingsOff } from '../../../db/planner-settings.ts'
import { mayDeleteOld } from '../../../db/retention.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Logger } from '../../../lib/logger.ts'
import { listWorkspaces } from '../../workspaces/workspaces.ts'
import { confirmBlocks, deleteBlocks, insertBlocks, nextBlocks } from './inbound-blocks.sql.ts'

/**
 * Messages of a block. A list with ten million messages sums 2,000 blocks, and reads at most this many messages to find one
 * with a filter that matches few.
 */
const blockSize = 5_000
/** Blocks in one transaction, which takes less than a second. */
const batchSize = 20
/** A message is recorded with the time at which its webhook arrived. The statement that stores it may take 10 minutes. */
const countAfterMs = 15 * 60_000
/**
 * A process that was frozen, or a clock that was set back, can still record messages in a block that is counted. After a jump
 * of more than a day nothing is counted or confirmed for a day.
 */
const confirmAfterMs = 26 * 3_600_000

/** Makes PostgreSQL read messages from an index, in its order, and look up joined rows one by one. */
export const fromIndex = <T>(db: Db, read: (tx: Db) => Promise<T>): Promise<T> =>
  withPlannerSettingsOff(['sort', 'seqscan', 'bitmapscan', 'hashjoin', 'mergejoin'], db, read)

/** Counts all full blocks, and confirms those of yesterday. Returns how many it counted. */
export async function countBlocks(db: Db, clock: Clock, log: Logger, size = blockSize): Promise<number> {
  if (!(await mayDeleteOld(db, clock, log))) return 0
  const now = (await databaseNow(db, clock)).getTime()
  await confirmAll(db, new Date(now - confirmAfterMs))
  const workspaceIds = (await listWorkspaces(db)).map(({ id }) => id)
  let total = 0
  for (let from = 0; from < workspaceIds.length; from += batchSize) {
    let pending = workspaceIds.slice(from, from + batchSize)
    while (pending.length > 0) {
      pending = await fromIndex(db, async (tx) => {
        const blocks = await nextBlocks(tx, pending, new Date(now - countAfterMs), size)
        if (blocks.length > 0) await insertBlocks(tx, blocks)
        return blocks.map(({ workspaceId }) => workspaceId)
      })
      total += pending.length
    }
  }
  return total
}

/** Confirms the counts of blocks that ended before a time. A wrong one is counted again, and confirmed afterwards. */
async function confirmAll(db: Db, before: Date): Promise<void> {
  const confirmSome = () =>
    fromIndex(db, async (tx) => {
      const checked = await confirmBlocks(tx, before, batchSize)
      const wrong = checked.filter(({ isRight }) => !isRight)
      if (wrong.length > 0) {
        await deleteBlocks(tx, wrong)
        await insertBlocks(tx, wrong)
      }
      return checked.length
    })
  while ((await confirmSome()) === batchSize);
}
