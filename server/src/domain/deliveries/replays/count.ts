/** Counts how many events a replay covers, in short statements: there may be millions. */
import type { Db } from '../../../db/db.ts'
import { type Coverage, countCovered, firstId, lastId } from './covered.sql.ts'
import { leftToCount, saveCount } from './replays.sql.ts'

/** Events that one statement looks at: with an attempt of each in one of 30 partitions, about a tenth of a second. */
const scanMax = 2_000

/** Counts the next part. False if everything is counted. Another process may count too: a part is added once. */
export async function countNext(db: Db, id: string): Promise<boolean> {
  const left = await leftToCount(db, id)
  if (!left) return false
  const { types, subscribed, ...rest } = left
  const counted = await countCovered(db, { ...rest, types: typesOf({ types, subscribed }) }, scanMax)
  await saveCount(db, id, { ...counted, from: left.from })
  return counted.more
}

/** Counts until everything is counted, or `withinMs` are over. */
export async function countReplay(db: Db, id: string, withinMs = Number.POSITIVE_INFINITY): Promise<void> {
  const startedMs = performance.now()
  while (await countNext(db, id)) if (performance.now() - startedMs > withinMs) return
}

/** Counts without a replay. `more` is true if `withinMs` were over before the end. */
export async function countWithin(
  db: Db,
  { since, until, ...coverage }: Omit<Coverage, 'from' | 'to'> & { since: Date; until: Date },
  withinMs: number,
): Promise<{ count: number; more: boolean }> {
  const startedMs = performance.now()
  const to = { at: until.toISOString(), id: lastId }
  let count = 0
  for (let from = { at: since.toISOString(), id: firstId }; ; ) {
    const { found, reached, more } = await countCovered(db, { ...coverage, from, to }, scanMax)
    count += found
    if (!more) return { count, more: false }
    if (performance.now() - startedMs > withinMs) return { count, more: true }
    from = reached
  }
}

/** The types that a replay covers: requested types that the webhook subscribes to. */
export const typesOf = ({ types, subscribed }: { types: string[] | null; subscribed: string[] }): string[] =>
  types === null ? subscribed : subscribed.filter((type) => types.includes(type))
