/**
 * Numbers of accounts that are not connected. No workspace gets their updates, which only operators see. They are
 * counted, so that an operator sees that an account is subscribed to an app and not connected.
 */
import type { Db } from '../../db/db.ts'
import { countDropped, type DroppedUpdates, deleteUnknown, unknownNumbersSince } from './unknown-numbers.sql.ts'

/** More numbers of one app are not counted: an operator knows what is wrong after the first ones. */
const mostPerApp = 50
const dayMs = 86_400_000
const shownDays = 7

export async function countDroppedUpdates(db: Db, now: Date, dropped: readonly DroppedUpdates[]): Promise<void> {
  if (dropped.length > 0) await countDropped(db, { dropped, now, most: mostPerApp })
}

/** The numbers that got updates in the last week. */
export const recentUnknownNumbers = (db: Db, now: Date) =>
  unknownNumbersSince(db, new Date(now.getTime() - shownDays * dayMs))

export async function deleteOldUnknownNumbers(db: Db, now: Date): Promise<void> {
  await deleteUnknown(db, new Date(now.getTime() - shownDays * dayMs))
}
