/** The list of contacts: by their last message, or the results of a search. */
import type { ListedContact } from '@parley/contract/console/contacts'
import type { Db } from '../../db/db.ts'
import { withPrefix } from '../../lib/ids.ts'
import type { KeySet, Position } from '../../lib/key-set.ts'
import { isUserId } from '../../whatsapp/incoming/user-id.ts'
import { toListed } from '../messages/reading/console-list.ts'
import { type Contacted, contactsNamed, pageOfContacts, partsOfContacts } from '../messages/reading/contact-list.ts'
import { windowMs } from '../messages/reading/reply-window.ts'
import { excerptOf } from '../search/excerpt.ts'
import { contactNames, findTexts } from '../search/find.ts'
import { findChoices } from '../senders/preferences.ts'

export interface ContactList {
  contacts: ListedContact[]
  /** Where the next page begins. Null at the end. */
  next: Position | null
  hasMore: boolean
}

export async function listContacts(db: Db, workspaceId: string, page: KeySet): Promise<ContactList> {
  const { contacts, next } = await pageOfContacts(db, workspaceId, page)
  return { contacts: await toContacts(db, workspaceId, contacts), next, hasMore: next !== null }
}

/** Contacts whose name or number matches, and then those who wrote or got the words. The newest of each, on one page. */
export async function searchContacts(db: Db, workspaceId: string, typed: string, take: number): Promise<ContactList> {
  const q = typed.trim()
  const searched = { workspaceId, q, kinds: ['message', 'inbound'] as const, contacts: true, take }
  const found = await findTexts(db, searched)
  const matches = new Map<string, ListedContact['match']>()
  if (isUserId(q)) matches.set(q, null)
  for (const { number, userId } of found.contacts) matches.set(number ?? userId ?? '', null)
  for (const { id, number, userId, text } of found.objects) {
    const person = number ?? userId
    if (person === null || matches.has(person)) continue
    matches.set(person, { message_id: withPrefix('msg', id), excerpt: excerptOf(text, q) })
  }
  const people = [...matches.keys()]
  const contacts = await contactsNamed(db, workspaceId, people.slice(0, take))
  const rows = await toContacts(db, workspaceId, contacts)
  return {
    contacts: rows.map((row) => ({ ...row, match: matches.get(row.id) ?? null })),
    next: null,
    hasMore: found.hasMore || people.length > take,
  }
}

async function toContacts(db: Db, workspaceId: string, contacts: readonly Contacted[]): Promise<ListedContact[]> {
  const parts = await partsOfContacts(db, workspaceId, contacts)
  const people = contacts.map(({ person }) => person)
  const names = await contactNames(db, workspaceId, people)
  const addressed = [...parts].map(([person, { message }]) => ({
    workspaceId,
    senderId: message.sender_id,
    personIds: message.user_id === null ? [person] : [...new Set([person, message.user_id])],
  }))
  const choices = await findChoices(db, addressed)
  const optedOut = new Set([...parts.keys()].filter((_, index) => choices[index]?.marketing === 'stop'))
  return people.flatMap((person) => {
    const found = parts.get(person)
    if (!found) return []
    const { unread, writtenAt, username } = found.state
    const message = toListed(found.message)
    const { id, direction, source, at, type, status, preview, template_name, sender_id, error, removed } = message
    return [
      {
        id: person,
        phone: isUserId(person) ? null : person,
        user_id: isUserId(person) ? person : message.user_id,
        username,
        name: names.get(person) ?? null,
        last_message: {
          ...{ id, direction, source, at, type, status, preview, template_name, sender_id, error, removed },
        },
        unread,
        window_expires_at: writtenAt && new Date(writtenAt.getTime() + windowMs).toISOString(),
        opted_out: optedOut.has(person),
        match: null,
      },
    ]
  })
}
