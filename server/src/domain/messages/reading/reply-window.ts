import type { Db } from '../../../db/db.ts'
import { latestByPhone, latestByUserId, type Person, type Writer } from './reply-window.sql.ts'

export const windowMs = 24 * 3_600_000

/** A person and the sender that they wrote to. */
export interface Conversation {
  senderId: string
  person: Person
}

/**
 * When the time ends in which WhatsApp accepts any message to a person: 24 hours after their latest private message to the
 * sender. Null if there is none. For people only: nothing is refused because of it, WhatsApp decides.
 */
export async function findReplyWindow(
  db: Db,
  workspaceId: string,
  senderId: string,
  person: Person,
): Promise<string | null> {
  const windowOf = await findReplyWindows(db, workspaceId, [{ senderId, person }])
  return windowOf({ senderId, person })
}

/** The same for several conversations. */
export async function findReplyWindows(
  db: Db,
  workspaceId: string,
  conversations: readonly Conversation[],
): Promise<(conversation: Conversation) => string | null> {
  const writers = new Map<string, Writer & { isNumber: boolean }>()
  for (const { senderId, person } of conversations) {
    const isNumber = 'phone' in person
    const name = isNumber ? person.phone : person.userId
    if (name !== null) writers.set(keyOf(senderId, name), { senderId, person: name, isNumber })
  }
  const [numbers, userIds] = [true, false].map((kind) => [...writers.values()].filter((each) => each.isNumber === kind))
  const found = [
    ...(numbers?.length ? await latestByPhone(db, { workspaceId, writers: numbers }) : []),
    ...(userIds?.length ? await latestByUserId(db, { workspaceId, writers: userIds }) : []),
  ]
  const latest = new Map(found.map(({ senderId, person, at }) => [keyOf(senderId, person), at]))
  return ({ senderId, person }) => {
    const at = latest.get(keyOf(senderId, ('phone' in person ? person.phone : person.userId) ?? ''))
    return at ? new Date(at.getTime() + windowMs).toISOString() : null
  }
}

/** A number has only digits and a user ID begins with letters, so they are never the same. */
const keyOf = (senderId: string, person: string): string => `${senderId} ${person}`
