/**
 * Searches the contents of a workspace, contact names and parts of phone numbers. The newest objects are read first: they have the
 * common words. Rare ones are found by full-text search (`search_ids`), which finds all objects before it knows the newest.
 */
import { readLimitMs, tookTooLong, withTimeLimit } from '../../db/bounded-total.ts'
import type { Db } from '../../db/db.ts'
import { withOrderedLookups } from '../../db/planner-settings.ts'
import {
  type Found,
  indexedObjects,
  type Kind,
  namesOf,
  newestObjects,
  numbersBeginning,
  type Person,
} from './sources.sql.ts'
import { hasWords, indexedBeginnings, isWholeWord, searchedWords, textOf } from './words.ts'

export type { Person }

export interface SearchLimits {
  /** How many of the newest objects of a kind are read. */
  newest: number
  /** How long a search of the index may take. */
  indexMs: number
}

export const searchLimits: SearchLimits = { newest: 300, indexMs: readLimitMs }

/** How many objects of the index are read: not all of them have the words as they were typed. */
const candidates = 100

export interface Searched {
  workspaceId: string
  q: string
  kinds: readonly Kind[]
  /** Whether to look for contacts. */
  contacts: boolean
  /** How many of each kind. */
  take: number
}

export interface FoundText extends Person {
  kind: Kind
  id: string
  title: string
  text: string
}

export interface FoundTexts {
  objects: FoundText[]
  contacts: Person[]
  /** There are more of a kind than were asked for. */
  hasMore: boolean
  /** The index was not read to the end. */
  timedOut: boolean
}

/** Returns nothing for a text without words, and for a single letter. */
export async function findTexts(db: Db, searched: Searched, limits = searchLimits): Promise<FoundTexts> {
  const { q, workspaceId, kinds, contacts, take } = searched
  const words = [...q].length < 2 && !isWholeWord(q) ? [] : searchedWords(q)
  const digits = contacts ? digitsIn(q) : []
  const found: FoundTexts = { objects: [], contacts: [], hasMore: false, timedOut: false }
  if (words.length === 0 && digits.length === 0) return found
  /** Objects of the index; none if that takes too long. */
  const indexed = async (kind: Kind, beginnings: readonly string[]): Promise<Found[]> => {
    const objects = await withTimeLimit(db, limits.indexMs, (tx) =>
      withOrderedLookups(tx, (ordered) => indexedObjects(ordered, kind, workspaceId, beginnings, candidates)),
    )
    if (objects !== tookTooLong) return objects
    found.timedOut = true
    return []
  }
  const newest = new Map<Kind, Found[]>()
  await withOrderedLookups(db, async (tx) => {
    const read = await Promise.all(kinds.map((kind) => newestObjects(tx, kind, workspaceId, limits.newest)))
    for (const [index, kind] of kinds.entries()) newest.set(kind, read[index] ?? [])
  })
  const beginnings = indexedBeginnings(words)
  const people: Person[] = contacts ? [...newest.values()].flat().filter((each) => isPerson(each, words, digits)) : []
  for (const [kind, objects] of newest) {
    const matches = (object: Found) => words.length > 0 && hasWords(textOf(kind, object), words)
    const matching = objects.filter(matches)
    if (words.length > 0 && matching.length <= take && objects.length === limits.newest) {
      const known = new Set(matching.map(({ id }) => id))
      matching.push(...(await indexed(kind, beginnings)).filter((each) => matches(each) && !known.has(each.id)))
    }
    found.hasMore ||= matching.length > take
    found.objects.push(...matching.slice(0, take).map((object) => ({ ...object, kind, text: textOf(kind, object) })))
    if (!contacts || objects.length < limits.newest) continue
    if (kind === 'inbound' && words.length > 0) {
      const ofNames = beginnings.map((beginning) => `=${beginning}`)
      const named = await indexed(kind, ofNames)
      people.push(...named.filter((each) => isPerson(each, words, [])))
    }
    if (kind === 'inbound' || kind === 'message') {
      for (const each of digits) {
        const ending = await indexed(kind, [`~${[...each].reverse().join('')}`])
        people.push(...ending.filter((person) => isPerson(person, [], [each])))
      }
    }
  }
  for (const each of digits) people.push(...(await withBeginning(db, workspaceId, each, take + 1)))
  found.objects.sort((left, right) => (left.id < right.id ? 1 : -1))
  found.contacts = distinct(people)
  found.hasMore ||= found.contacts.length > take
  return { ...found, contacts: found.contacts.slice(0, take) }
}

const withBeginning = (db: Db, workspaceId: string, digits: string, take: number): Promise<Person[]> =>
  withOrderedLookups(db, async (tx) => {
    const numbers = await numbersBeginning(tx, workspaceId, digits, take)
    const names = await namesIn(tx, workspaceId, numbers)
    return numbers.map((number) => ({ number, userId: null, name: names.get(number) ?? null }))
  })

const namesIn = async (tx: Db, workspaceId: string, people: readonly string[]): Promise<Map<string, string>> =>
  new Map((await namesOf(tx, workspaceId, people)).map(({ person, name }) => [person, name]))

/** The names of people, who are named by number or user ID. */
export const contactNames = async (
  db: Db,
  workspaceId: string,
  people: readonly (string | null)[],
): Promise<ReadonlyMap<string | null, string>> => {
  const named = [...new Set(people.filter((person) => person !== null))]
  if (named.length === 0) return new Map()
  return withOrderedLookups(db, (tx) => namesIn(tx, workspaceId, named))
}

/** A number with a trunk zero, as in 0170 1234567, has at least so many digits. */
const nationalLength = 7

/** The digits of a part of a phone number, from three on; also without zeros in front of it. Empty if it is not one. */
export function digitsIn(q: string): string[] {
  if (!/^\+?[\d\s().-]+$/.test(q)) return []
  const digits = q.replaceAll(/\D/g, '')
  if (digits.length < 3 || digits.length > 20) return []
  const national = digits.replace(/^0+/, '')
  return digits.startsWith('0') && national.length >= nationalLength ? [digits, national] : [digits]
}

/** Whether a part of a number is its beginning or its end, or the name has all words. */
export const isPerson = ({ number, name }: Person, words: readonly string[], digits: readonly string[]): boolean =>
  (number !== null && digits.some((each) => number.startsWith(each) || number.endsWith(each))) ||
  (name !== null && words.length > 0 && hasWords(name, words))

/** Each person once, with the name that they wrote with, if it is known. */
export function distinct(people: readonly Person[]): Person[] {
  const byId = new Map<string, Person>()
  for (const person of people) {
    const id = person.number ?? person.userId
    if (id === null) continue
    const known = byId.get(id)
    if (!known || (known.name === null && person.name !== null)) byId.set(id, person)
  }
  return [...byId.values()]
}
