/** Who a person is, from the newest messages with them. */
import type { Db } from '../../../db/db.ts'
import type { NamedPerson } from '../privacy/person.ts'
import { currentUser, earlierUserIds } from '../user-ids.sql.ts'
import { newestTraces, type Trace } from './conversation.sql.ts'

export { lastHandovers } from '../receiving/handovers.sql.ts'
export { savedName } from '../receiving/saved-contacts.sql.ts'

/** Messages that are read in each direction and for each ID. Senders that occur only in older ones are not listed. */
const tracesMax = 500
/** User IDs of one person. WhatsApp replaces one when the person changes their number. */
const userIdsMax = 10

export interface TracedPerson {
  numbers: readonly string[]
  /** The current one first. */
  userIds: readonly string[]
  /** The newest messages first. */
  traces: readonly Trace[]
}

/**
 * Finds a person with a bounded number of index lookups. A number leads to the user ID that was seen with it last, and so to
 * messages that came later without the number. No index leads from a user ID to a number.
 */
export async function tracePerson(db: Db, workspaceId: string, named: NamedPerson): Promise<TracedPerson> {
  const tracesOf = (kind: 'number' | 'userId', id: string) => newestTraces(db, workspaceId, { kind, id }, tracesMax)
  if ('userId' in named) {
    const { userId } = await currentUser(db, workspaceId, named.userId)
    return withTraces([], await allUserIds(db, workspaceId, userId, named.userId), [], tracesOf)
  }
  const traces = await tracesOf('number', named.number)
  const seen = traces.find(({ userId }) => userId !== null)?.userId ?? null
  const userIds = seen === null ? [] : await allUserIds(db, workspaceId, seen, seen)
  return withTraces([named.number], userIds, traces, tracesOf)
}

async function allUserIds(db: Db, workspaceId: string, current: string, named: string): Promise<string[]> {
  const earlier = await earlierUserIds(db, workspaceId, current)
  return [...new Set([current, named, ...earlier])].slice(0, userIdsMax)
}

async function withTraces(
  numbers: readonly string[],
  userIds: readonly string[],
  first: readonly Trace[],
  tracesOf: (kind: 'userId', id: string) => Promise<Trace[]>,
): Promise<TracedPerson> {
  const traces = [...first]
  for (const userId of userIds) traces.push(...(await tracesOf('userId', userId)))
  return { numbers, userIds, traces: traces.toSorted((one, other) => other.at.getTime() - one.at.getTime()) }
}
