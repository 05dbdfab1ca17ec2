/**
 * Stores the words of messages, orders and forms, for the search. Maintenance does it, so sending and receiving cost nothing for it:
 *
 *   new objects       in the order of their IDs, some seconds after they were created
 *   late ones         that were committed after others with a higher ID: a second look, 15 minutes later
 *   older ones        from before the first run, newest first, until all are stored
 *
 * A search reads what is newer than the position directly.
 */
import { databaseNow } from '../../db/database-clock.ts'
import type { Db } from '../../db/db.ts'
import { withIndexLookups } from '../../db/planner-settings.ts'
import { steadySince } from '../../db/retention.ts'
import type { Clock } from '../../lib/clock.ts'
import { firstIdAt } from '../../lib/ids.ts'
import { addIds } from './add.ts'
import { allProgress, holdWords, type Progress, saveProgress } from './blocks.sql.ts'
import { removeWords } from './remove.ts'
import { idsBetween, type Kind, kinds } from './sources.sql.ts'

export interface FillLimits {
  /** Objects in one transaction, which takes about a third of a second. */
  batch: number
  /** Batches of new objects of each kind in one run. */
  newBatches: number
  /** Batches of older ones: with a run every half minute, 1.2 million objects of each kind an hour. */
  oldBatches: number
}

export const fillLimits: FillLimits = { batch: 2_000, newBatches: 10, oldBatches: 5 }

/** Most transactions that store objects take less than this. */
const lagMs = 10_000
/** No statement that stores objects takes longer than this. */
const checkAfterMs = 15 * 60_000
const checkEveryMs = 5 * 60_000
/** How far the position goes back if it is in the future, because the clock was wrong. */
const backMs = 3_600_000

/** Removes the words of removed contents, then adds those of new and older objects. */
export async function fillSearch(db: Db, clock: Clock, limits = fillLimits): Promise<void> {
  await removeWords(db)
  const now = (await databaseNow(db, clock)).getTime()
  const { batch, newBatches, oldBatches } = limits
  for (const kind of kinds) {
    await repeat(newBatches, () => step(db, kind, now, (tx, progress) => addNew(tx, kind, progress, now, batch)))
    await repeat(newBatches, () => step(db, kind, now, (tx, progress) => addLate(tx, kind, progress, now, batch)))
    await repeat(oldBatches, () => step(db, kind, now, (tx, progress) => addOlder(tx, kind, progress, batch)))
  }
}

async function repeat(times: number, run: () => Promise<boolean>): Promise<void> {
  for (let time = 0; time < times; time++) if (!(await run())) return
}

/** What a batch changes, and whether there may be more. */
interface Batch {
  moved: Partial<Progress>
  hasMore: boolean
}

const step = (db: Db, kind: Kind, now: number, add: (tx: Db, progress: Progress) => Promise<Batch>): Promise<boolean> =>
  withIndexLookups(db, async (tx) => {
    // First, so that contents that are removed from now on are removed from what this adds.
    await holdWords(tx)
    const progress = await currentProgress(tx, kind, now)
    const { moved, hasMore } = await add(tx, progress)
    if (Object.keys(moved).length > 0) await saveProgress(tx, kind, { ...progress, ...moved })
    return hasMore
  })

async function addNew(tx: Db, kind: Kind, { newestId }: Progress, now: number, take: number): Promise<Batch> {
  const ids = await idsBetween(tx, kind, { after: newestId, until: idAt(now - lagMs), take }, 'asc')
  await addIds(tx, kind, ids, 'newest')
  const last = ids.at(-1)
  return { moved: last ? { newestId: last.id } : {}, hasMore: ids.length === take }
}

async function addLate(tx: Db, kind: Kind, progress: Progress, now: number, take: number): Promise<Batch> {
  const { newestId, checkedId } = progress
  if (checkedId > idAt(now - checkAfterMs - checkEveryMs) || checkedId >= newestId) return { moved: {}, hasMore: false }
  const [until = newestId] = [newestId, idAt(now - checkAfterMs)].sort()
  const ids = await idsBetween(tx, kind, { after: checkedId, until, take }, 'asc')
  await addIds(tx, kind, ids, 'newest')
  const hasMore = ids.length === take
  return { moved: { checkedId: (hasMore && ids.at(-1)?.id) || until }, hasMore }
}

async function addOlder(tx: Db, kind: Kind, { oldestId }: Progress, take: number): Promise<Batch> {
  if (oldestId === null) return { moved: {}, hasMore: false }
  const ids = await idsBetween(tx, kind, { after: idAt(0), until: oldestId, take }, 'desc')
  await addIds(tx, kind, ids, 'oldest')
  const hasMore = ids.length === take
  return { moved: { oldestId: (hasMore && ids.at(-1)?.id) || null }, hasMore }
}

async function currentProgress(tx: Db, kind: Kind, now: number): Promise<Progress> {
  const beganAt = new Date(now)
  const begin = idAt(now - lagMs)
  const found = (await allProgress(tx)).find((each) => each.kind === kind)
  if (!found) {
    const first = { newestId: begin, checkedId: begin, oldestId: begin, beganAt }
    await saveProgress(tx, kind, first)
    return first
  }
  if (found.newestId > idAt(now)) return { ...found, newestId: idAt(now - backMs), checkedId: idAt(now - backMs) }
  // While the clock was wrong, objects may have got IDs from before the position.
  const jumpedAt = await steadySince(tx)
  return jumpedAt !== null && jumpedAt > found.beganAt ? { ...found, checkedId: idAt(0), beganAt } : found
}

const idAt = (ms: number): string => firstIdAt(new Date(ms))
