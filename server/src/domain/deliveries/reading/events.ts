import { type EventType, eventTypes } from '@parley/contract/events'
import type { Db } from '../../../db/db.ts'
import { isUuid } from '../../../lib/ids.ts'
import { countNewestTypes, countRareTypes, eventsBetween, frequentTypes, type TypeCount } from './events.sql.ts'

export { lastEvents, type SenderEvent, senderEvents } from './events.sql.ts'

const rareTypes = eventTypes.filter((type) => !frequentTypes.includes(type))
const newestMax = 50_000
const eachMax = 10_000

export interface EventTypeCount {
  type: EventType
  count: number
  /** There may be others that were not counted. */
  more: boolean
  lastAt: Date | null
}

/** How many events of each type occurred since a time, and the last one. Only those of some senders, unless it is null. */
export async function countEventTypes(
  db: Db,
  workspaceId: string,
  senders: readonly string[] | null,
  since: Date,
): Promise<EventTypeCount[]> {
  const of = { workspaceId, senders, since }
  const [rare, newest] = await Promise.all([
    countRareTypes(db, { ...of, types: rareTypes, limit: eachMax }),
    countNewestTypes(db, { ...of, limit: newestMax }),
  ])
  const isCut = newest.reduce((sum, { read }) => sum + read, 0) >= newestMax
  return eventTypes.map((type) => {
    const isFrequent = frequentTypes.includes(type)
    const found: TypeCount | undefined = (isFrequent ? newest : rare).find((each) => each.type === type)
    const more = isFrequent ? isCut : (found?.read ?? 0) >= eachMax
    return { type, count: found?.count ?? 0, more, lastAt: found?.lastAt ?? null }
  })
}

const lowest = '00000000-0000-0000-0000-000000000000'
const highest = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Events whose ID begins with a text, at most `limit`. */
export async function findEvents(db: Db, beginning: string, limit: number): Promise<{ id: string; type: string }[]> {
  const first = beginning.toLowerCase() + lowest.slice(beginning.length)
  if (!isUuid(first)) return []
  return eventsBetween(db, first, beginning.toLowerCase() + highest.slice(beginning.length), limit)
}
