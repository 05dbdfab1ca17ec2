/** The contacts of a workspace, by their last message. */
import type { Db } from '../../../db/db.ts'
import { withOrderedLookups } from '../../../db/planner-settings.ts'
import { type KeySet, type Position, positionOf } from '../../../lib/key-set.ts'
import { type ListedRow, withParts } from './console-list.ts'
import {
  type ContactMessage,
  type ContactState,
  contactStates,
  lastMessages,
  messagesById,
  newestMessages,
  peopleSince,
} from './contact-list.sql.ts'

export { saveRead } from './contact-list.sql.ts'

/** How many messages are read at a time, and for a page. A page after that many messages has fewer contacts than asked for. */
const batchMax = 500
const messagesMax = 10_000

/** The last message of each contact, newest first. */
export interface ContactPage {
  contacts: Contacted[]
  /** Where the next page begins. Null at the end. */
  next: Position | null
}

export interface Contacted extends Position {
  person: string
}

/**
 * Reads messages from the newest to the oldest, until there are enough contacts. A contact with a message on an earlier page was
 * on that page. So a list needs no row for each contact, which every message would have to change.
 */
export const pageOfContacts = (db: Db, workspaceId: string, { take, after }: KeySet): Promise<ContactPage> =>
  withOrderedLookups(db, async (tx) => {
    const seen = new Set<string>()
    const contacts: Contacted[] = []
    let next = after
    for (let read = 0; read < messagesMax; read += batchMax) {
      const batch = await newestMessages(tx, workspaceId, next, batchMax)
      const found = batch.filter((each): each is Contacted => isFirst(each, seen))
      const people = found.map(({ person }) => person)
      const earlier = after && people.length > 0 ? await peopleSince(tx, workspaceId, people, after) : new Set<string>()
      contacts.push(...found.filter(({ person }) => !earlier.has(person)))
      const last = contacts[take - 1]
      if (contacts.length > take && last) return { contacts: contacts.slice(0, take), next: positionOf(last) }
      const end = batch.at(-1)
      if (!end || batch.length < batchMax) return { contacts, next: null }
      next = positionOf(end)
    }
    return { contacts, next }
  })

function isFirst({ person }: ContactMessage, seen: Set<string>): boolean {
  if (person === null || seen.has(person)) return false
  seen.add(person)
  return true
}

/** The last messages of these people, in their order. Without those who have none. */
export async function contactsNamed(db: Db, workspaceId: string, people: readonly string[]): Promise<Contacted[]> {
  const rows = await withOrderedLookups(db, (tx) => lastMessages(tx, workspaceId, people))
  const byPerson = new Map(rows.map((row) => [row.person, row]))
  return people.flatMap((person) => {
    const last = byPerson.get(person)
    return last ? [{ ...last, person }] : []
  })
}

/** What is known about contacts, by number or user ID. */
export interface ContactParts {
  message: ListedRow
  state: ContactState
}

export async function partsOfContacts(
  db: Db,
  workspaceId: string,
  contacts: readonly Contacted[],
): Promise<Map<string, ContactParts>> {
  if (contacts.length === 0) return new Map()
  const people = contacts.map(({ person }) => person)
  const ids = contacts.map(({ id }) => id)
  const [messages, states] = await withOrderedLookups(db, (tx) =>
    Promise.all([messagesById(tx, workspaceId, ids), contactStates(tx, workspaceId, people)]),
  )
  const listed = new Map((await withParts(db, workspaceId, messages)).map((row) => [row.id, row]))
  const byPerson = new Map(states.map((state) => [state.person, state]))
  return new Map(
    contacts.flatMap(({ person, id }) => {
      const [message, state] = [listed.get(id), byPerson.get(person)]
      return message && state ? [[person, { message, state }] as const] : []
    }),
  )
}

/** How many messages of a person are unread. */
export async function unreadOf(db: Db, workspaceId: string, people: readonly string[]): Promise<number> {
  const states = await withOrderedLookups(db, (tx) => contactStates(tx, workspaceId, people))
  return states.reduce((sum, { unread }) => sum + unread, 0)
}
