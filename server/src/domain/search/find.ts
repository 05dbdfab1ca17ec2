/**
 * Searches the contents of a workspace, contact names and parts of phone numbers. Words are looked up block by block, newest first,
 * so a common word ends the search early, and a rare one costs an index look-up for each block. What has not been stored yet is
 * read directly, up to a limit.
 */
import type { Db } from '../../db/db.ts'
import { withOrderedLookups } from '../../db/planner-settings.ts'
import { firstIdAt } from '../../lib/ids.ts'
import { nameMark } from './add.ts'
import { allProgress, type Progress } from './blocks.sql.ts'
import { type Block, keysWithWords, newestBlocks, numbersWith } from './find.sql.ts'
import { idsWithKey, keyOf, timeOfKey } from './keys.ts'
import { digitsIn, distinct, isPerson } from './people.ts'
import { type Found, type Kind, namesOf, newestAfter, objectsInRanges, type Person } from './sources.sql.ts'
import { textOf } from './text.ts'
import { hasWords, isWholeWord, searchedWords } from './words.ts'

export type { Person }

export interface SearchLimits {
  /** How many of the newest objects that are not stored yet are read. */
  direct: number
  /** After this time no more blocks are read. */
  timeoutMs: number
}

export const searchLimits: SearchLimits = { direct: 1_000, timeoutMs: 500 }

/** Blocks that one statement reads: few at first, because a common word is in the newest ones, and 16 times more each time. */
const firstBlocks = 4
const blocksOnce = 256
/** 40 million objects of a kind. */
const blocksMax = 10_000
/** Names: a person has many messages, so more are read to find several people. */
const perName = 100

export interface Searched {
  workspaceId: string
  q: string
  kinds: readonly Kind[]
  /** Whether to look for contacts. */
  contacts: boolean
  /** How many of each kind. */
  take: number
}

export interface FoundText {
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
  /** Contents from before this time were not searched; null if all were. */
  searchedTo: Date | null
  /** Some of the newest contents were neither stored nor read. */
  isBehind: boolean
}

/** Returns nothing for a text without words, and for a single letter. */
export async function findTexts(db: Db, searched: Searched, limits = searchLimits): Promise<FoundTexts> {
  const { q, kinds, contacts, take } = searched
  const words = [...q].length < 2 && !isWholeWord(q) ? [] : searchedWords(q)
  const digits = contacts ? digitsIn(q) : []
  const found: FoundTexts = { objects: [], contacts: [], hasMore: false, searchedTo: null, isBehind: false }
  if (words.length === 0 && digits.length === 0) return found
  await withOrderedLookups(db, async (tx) => {
    const search: Search = { tx, ...searched, words, digits, deadline: performance.now() + limits.timeoutMs, found }
    const progress = await allProgress(tx)
    // Statements that do not depend on each other are sent together.
    const parts = await Promise.all(
      kinds.map((kind) => searchKind(search, kind, progress.find((each) => each.kind === kind) ?? null, limits.direct)),
    )
    const numbers = await Promise.all(digits.map((each) => withNumber(search, each)))
    found.objects = parts.flatMap(({ objects }) => objects).sort((left, right) => (left.id < right.id ? 1 : -1))
    found.contacts = distinct([...parts.flatMap(({ people }) => people), ...numbers.flat()])
  })
  found.hasMore ||= found.contacts.length > take
  return { ...found, contacts: found.contacts.slice(0, take) }
}

interface Search extends Searched {
  tx: Db
  words: readonly string[]
  digits: readonly string[]
  deadline: number
  /** How far the search went. */
  found: FoundTexts
}

async function searchKind(
  search: Search,
  kind: Kind,
  progress: Progress | null,
  look: number,
): Promise<{ objects: FoundText[]; people: Person[] }> {
  const { tx, workspaceId, contacts, words, digits } = search
  const [newest, blocks] = await Promise.all([
    readNewest(search, kind, progress, look),
    words.length === 0 ? [] : newestBlocks(tx, workspaceId, kind, blocksMax),
  ])
  const people: Person[] = contacts ? newest.filter((each) => isPerson(each, words, digits)) : []
  if (words.length === 0) return { objects: [], people }
  const [objects, named] = await Promise.all([
    findObjects(search, kind, newest, blocks),
    contacts && kind === 'inbound' ? findNamed(search, people, blocks) : [],
  ])
  return { objects, people: [...people, ...named] }
}

/** The newest objects of a kind whose contents have the words. */
async function findObjects(
  search: Search,
  kind: Kind,
  newest: readonly Found[],
  blocks: readonly Block[],
): Promise<FoundText[]> {
  const { words, take, found } = search
  const isWanted = (object: Found) => hasWords(textOf(kind, object), words)
  const matching = newest.filter(isWanted)
  if (matching.length <= take) {
    const parts = readBlocks(search, kind, blocks, { words, isWanted, candidates: 4 * take })
    for await (const part of parts) if (matching.push(...part) > take) break
  }
  found.hasMore ||= matching.length > take
  return matching.slice(0, take).map((object) => ({ ...object, kind, text: textOf(kind, object) }))
}

/** People whose profile name has the words, besides those that are known. */
async function findNamed(search: Search, known: readonly Person[], blocks: readonly Block[]): Promise<Person[]> {
  const { words, take } = search
  const isWanted = ({ name }: Found) => name !== null && hasWords(name, words)
  const marked = words.map((word) => `${nameMark}${word}`)
  const people: Person[] = []
  for await (const part of readBlocks(search, 'inbound', blocks, { words: marked, isWanted, candidates: perName })) {
    people.push(...part)
    if (distinct([...known, ...people]).length > take) break
  }
  return people
}

/** What is not stored yet. Says in `found` how far that went. */
async function readNewest(
  { tx, workspaceId, found }: Search,
  kind: Kind,
  progress: Progress | null,
  look: number,
): Promise<Found[]> {
  const newest = await newestAfter(tx, kind, { workspaceId, after: progress?.newestId ?? firstIdAt(new Date(0)), look })
  const last = newest.at(-1)
  if (last?.isLast && progress) found.isBehind = true
  if (last?.isLast && !progress) searchedTo(found, keyOf(last.id))
  if (progress?.oldestId) searchedTo(found, keyOf(progress.oldestId))
  return newest
}

interface Wanted {
  words: readonly string[]
  isWanted(object: Found): boolean
  /** How many of the newest objects with the words are looked at, in each part of the blocks. */
  candidates: number
}

/** Reads the objects with these words, newest first, until the time is over. */
async function* readBlocks(
  { tx, workspaceId, deadline, found }: Search,
  kind: Kind,
  blocks: readonly Block[],
  { words, isWanted, candidates }: Wanted,
): AsyncGenerator<Found[]> {
  for (let from = 0, size = firstBlocks; from < blocks.length; from += size, size = Math.min(size * 16, blocksOnce)) {
    const part = blocks.slice(from, from + size)
    if (performance.now() > deadline) {
      searchedTo(found, part[0]?.lastKey ?? '0')
      return
    }
    const numbers = part.map(({ block }) => block)
    const keys = await keysWithWords(tx, workspaceId, numbers, words, candidates)
    if (keys.length === 0) continue
    const objects = await objectsInRanges(tx, kind, workspaceId, keys.map(idsWithKey))
    yield objects.filter(isWanted).sort((left, right) => (left.id < right.id ? 1 : -1))
  }
}

function searchedTo(found: FoundTexts, key: string): void {
  const time = timeOfKey(key)
  if (found.searchedTo === null || found.searchedTo < time) found.searchedTo = time
}

async function withNumber({ tx, workspaceId, take }: Search, digits: string): Promise<Person[]> {
  const numbers = await numbersWith(tx, workspaceId, digits, take + 1)
  const names = new Map((await namesOf(tx, workspaceId, numbers)).map(({ number, name }) => [number, name]))
  return numbers.map((number) => ({ number, userId: null, name: names.get(number) ?? null }))
}
