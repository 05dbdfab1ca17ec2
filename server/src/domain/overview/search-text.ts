import type { SearchResult } from '@parley/contract/console/overview'
import { can } from '@parley/contract/console/permissions'
import { readLimitMs, tookTooLong, withTimeLimit } from '../../db/bounded-total.ts'
import type { Viewer } from './overview.ts'
import type { FoundRow } from './search.sql.ts'
import { type ContactRow, newestContacts, newestWithText, type TextKind } from './search-text.sql.ts'

/** How many of the newest rows of each kind are searched. */
export const searchedRows = 10_000
const perKind = 5
const wordsMax = 8

/** What a search of contents found, and how far it got. */
export interface TextSearch {
  contacts: SearchResult[]
  rows: FoundRow[]
  /** Contents from before this time were not searched; null if all were. */
  searchedTo: Date | null
  /** Some contents were not searched, because it took too long. */
  isIncomplete: boolean
}

const nothing: TextSearch = { contacts: [], rows: [], searchedTo: null, isIncomplete: false }

/** Searches names, parts of phone numbers and contents: messages, orders and forms that the role may read. */
export async function searchText(viewer: Viewer, q: string, look = searchedRows): Promise<TextSearch> {
  const { db, workspaceId, role } = viewer
  const words = [...new Set(q.toLowerCase().split(/\s+/).filter(Boolean))].slice(0, wordsMax)
  if ([...q].length < 2 && !/\p{Extended_Pictographic}/u.test(q)) return nothing
  const query = { workspaceId, words, look, take: perKind }
  const kinds: TextKind[] = [
    ...(can(role, 'messages:read') ? (['message', 'inbound'] as const) : []),
    ...(can(role, 'orders:read') ? (['order'] as const) : []),
    ...(can(role, 'forms:read') ? (['form'] as const) : []),
  ]
  const digits = digitsIn(q)
  const people = can(role, 'messages:read') ? (['inbound', 'message'] as const) : []
  const limited = <T>(run: Parameters<typeof withTimeLimit<T>>[2]) => withTimeLimit(db, readLimitMs, run)
  const [texts, contacts] = await Promise.all([
    Promise.all(kinds.map((kind) => limited((tx) => newestWithText(tx, kind, query)))),
    Promise.all(people.map((kind) => limited((tx) => newestContacts(tx, kind, { ...query, digits })))),
  ])
  const found = texts.filter((each) => each !== tookTooLong)
  const ends = found.flatMap(({ searchedTo }) => searchedTo?.getTime() ?? [])
  return {
    contacts: distinct(contacts.flatMap((each) => (each === tookTooLong ? [] : each)))
      .slice(0, perKind)
      .map((contact) => toContact(workspaceId, contact)),
    rows: found.flatMap(({ rows }) => rows),
    searchedTo: ends.length > 0 ? new Date(Math.max(...ends)) : null,
    isIncomplete: [...texts, ...contacts].includes(tookTooLong),
  }
}

/** The digits of a part of a phone number, from three on. */
function digitsIn(q: string): string | null {
  if (!/^\+?[\d\s().-]+$/.test(q)) return null
  const digits = q.replaceAll(/\D/g, '')
  return digits.length >= 3 && digits.length <= 20 ? digits : null
}

/** Each person once, with the name that they wrote with, if it is known. */
function distinct(contacts: readonly ContactRow[]): ContactRow[] {
  const byPerson = new Map<string, ContactRow>()
  for (const contact of contacts) {
    const person = contact.number ?? contact.userId ?? ''
    const known = byPerson.get(person)
    if (!known || (known.name === null && contact.name !== null)) byPerson.set(person, contact)
  }
  return [...byPerson.values()]
}

export function toContact(workspaceId: string, { number, userId, name }: ContactRow): SearchResult {
  const id = number ?? userId ?? ''
  const shown = number === null ? id : `+${number}`
  return {
    kind: 'contact',
    id,
    title: name ?? shown,
    detail: name === null ? 'Conversation' : shown,
    href: `/w/${workspaceId}/contacts/${encodeURIComponent(id)}`,
  }
}
