import type { Db } from '../../../db/db.ts'
import { isUuid } from '../../../lib/ids.ts'
import { eventsBetween } from './find-events.sql.ts'

const lowest = '00000000-0000-0000-0000-000000000000'
const highest = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Events whose ID begins with a text, at most `limit`. */
export async function findEvents(db: Db, beginning: string, limit: number): Promise<{ id: string; type: string }[]> {
  const first = beginning.toLowerCase() + lowest.slice(beginning.length)
  if (!isUuid(first)) return []
  return eventsBetween(db, first, beginning.toLowerCase() + highest.slice(beginning.length), limit)
}
