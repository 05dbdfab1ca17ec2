/**
 * Removes the contents of messages that are older than PARLEY_CONTENT_RETENTION_DAYS, oldest first. Our IDs begin with the time, so
 * the position of the last message that was looked at is all it has to remember: a run reads only what has become old since the
 * last one, and a process that takes over continues there.
 */
import { databaseNow } from '../../db/database-clock.ts'
import type { Db } from '../../db/db.ts'
import { withIndexLookups } from '../../db/planner-settings.ts'
import { steadySince } from '../../db/retention.ts'
import type { Clock } from '../../lib/clock.ts'
import { firstIdAt } from '../../lib/ids.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { deleteExpiredFiles } from '../files/fetching.ts'
import { type Looked, type RemovalRange, removeReceived, removeSent } from '../messages/privacy/remove-content.ts'
import { type Direction, lockProgress, type Progress, saveProgress } from './content-retention.sql.ts'

export interface RemovalLimits {
  /** Messages in one transaction, which takes about a tenth of a second. */
  batch: number
  /** Batches of each direction in one run: with a run every ten minutes, up to 1.2 million messages an hour. */
  batches: number
}

export const removalLimits: RemovalLimits = { batch: 1_000, batches: 200 }

const removals: Readonly<Record<Direction, (tx: Db, range: RemovalRange, now: Date) => Promise<Looked>>> = {
  sent: removeSent,
  received: removeReceived,
}

/** Returns how many contents were removed. */
export async function removeOldContents(
  db: Db,
  clock: Clock,
  log: Logger,
  days: number,
  limits = removalLimits,
): Promise<Record<Direction, number>> {
  const now = await databaseNow(db, clock)
  const endId = firstIdAt(new Date(now.getTime() - days * 86_400_000))
  const removed = { sent: 0, received: 0 }
  for (const direction of ['sent', 'received'] as const) {
    for (let batch = 0; batch < limits.batches; batch++) {
      const looked = await removeNext(db, direction, endId, now, limits.batch)
      removed[direction] += looked.removed
      if (looked.looked < limits.batch) break
    }
  }
  await deleteExpiredFiles(db)
  if (removed.sent + removed.received > 0) {
    log.info({ event: 'content.removed', ...removed, days }, 'removed the contents of old messages')
  }
  return removed
}

const removeNext = (db: Db, direction: Direction, endId: string, now: Date, take: number): Promise<Looked> =>
  withIndexLookups(db, async (tx) => {
    const { position, beganAt } = await progressOf(tx, direction, now)
    const looked = await removals[direction](tx, { position, endId, take }, now)
    if (looked.position) await saveProgress(tx, direction, { position: looked.position, beganAt })
    return looked
  })

/** While the clock was wrong, messages may have got IDs from before the position, so it begins again after a jump. */
async function progressOf(tx: Db, direction: Direction, now: Date): Promise<Progress> {
  const found = await lockProgress(tx, direction)
  const jumpedAt = await steadySince(tx)
  if (found && (jumpedAt === null || jumpedAt <= found.beganAt)) return found
  return { position: firstIdAt(new Date(0)), beganAt: now }
}
