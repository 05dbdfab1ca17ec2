import { parseExactly } from '@parley/contract/exact-json'
import { type JsonObject, readArray, readObject } from '../read-json.ts'
import { idBeginning, isInId } from './person-in-id.ts'
import { depthOf } from './raw-json.ts'
import { isUserId } from './user-id.ts'

/** A webhook in two parts. Null if nothing is in a part; the rest is the same text if nothing is about the person. */
export interface SplitByPerson {
  /** The part about the person: an export has it, and an erasure removes it. */
  about: string | null
  rest: string | null
}

export interface PersonIds {
  /** Named by number. Otherwise, the user IDs once had these numbers, and other people may have them by now. */
  isNumber: boolean
  numbers: readonly string[]
  userIds: readonly string[]
}

/**
 * A person of a workspace: who was named, and all numbers and user IDs that belong together.
 *
 * Named by number: everything with that number, and what has no number and one of the user IDs that were seen with it.
 * Named by user ID: everything with that ID, an ID that it replaced or an ID that replaced it, and what has no user ID
 * and one of the numbers that were seen with them. Numbers get new owners after some time, and user IDs do not, so
 * neither follows a number to the user IDs of others and from there to their other numbers.
 */
export interface KnownPerson extends PersonIds {
  workspaceId: string
}

/** The first parameters of the statements about a person. */
export const personValues = ({ workspaceId, numbers, userIds, isNumber }: KnownPerson) =>
  [workspaceId, numbers, userIds, isNumber] as const

/** Deeper than any webhook of the network. Such a text cannot be split. */
const maxDepth = 500

/**
 * Splits a webhook with one change, of any shape. An item of a list is about the person if it names them outside of the lists in
 * it. If the change itself names them, all of it is about them.
 */
export function splitByPerson(webhook: string, person: PersonIds): SplitByPerson {
  if (depthOf(webhook) > maxDepth) return { about: webhook, rest: null }
  const body = parseExactly(webhook)
  if (!contains(body, person)) return { about: null, rest: webhook }
  if (names(body, person)) return { about: webhook, rest: null }
  const rest = withoutPerson(body, person)
  return { about: JSON.stringify(onlyPerson(body, person)), rest: saysSomething(rest) ? JSON.stringify(rest) : null }
}

/** Webhooks in memory at a time. One has at most a few hundred kilobytes. */
const pageSize = 20

/**
 * Those of stored webhooks that are about the person, in two parts. `read` returns the next ones after an ID that match one of
 * the patterns.
 */
export async function* splitEach<Stored extends { id: string; webhook: string }>(
  person: PersonIds,
  read: (patterns: readonly string[], afterId: string, take: number) => Promise<Stored[]>,
): AsyncGenerator<Stored & SplitByPerson> {
  const patterns = patternsNaming(person)
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const page = await read(patterns, after, pageSize)
    for (const stored of page) {
      const parts = splitByPerson(stored.webhook, person)
      if (parts.about !== null) yield { ...stored, ...parts }
    }
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = last.id
  }
}

/** Regular expressions of which one matches a webhook about the person. Others may match too. */
export const patternsNaming = ({ numbers, userIds }: PersonIds): string[] => [
  ...numbers.map((number) => [...number].join('[ ().-]*')),
  ...userIds.map((id) => literal(`"${id}"`)),
  ...[...numbers, ...userIds].map((id) => literal(idBeginning(id))),
]

const literal = (text: string): string => text.replaceAll(/[.+]/g, '[$&]')

/** The number that a text consists of: with separators, as a link (`tel:`), or as an address (`@s.whatsapp.net`) with its device. */
const numberIn = (text: string): string | undefined =>
  /^(?:[a-z]+:)?([\d +().-]+)(?::\d+)?(?:@[\w.]+)?$/.exec(text)?.[1]?.replaceAll(/\D/g, '')

/** Whether a value names the person, outside of the lists in it. */
function names(value: unknown, person: PersonIds): boolean {
  const texts = [...textsIn(value)]
  const { isNumber, numbers, userIds } = person
  if (texts.some((text) => userIds.includes(text))) return true
  const hasNumber = texts.some(
    (text) => numbers.includes(numberIn(text) ?? '') || isInId(text, [...numbers, ...userIds]),
  )
  return hasNumber && (isNumber || !texts.some(isUserId))
}

/** The names, texts and numbers of an object, except what people wrote. */
function* textsIn(value: unknown): Generator<string> {
  if (isText(value)) yield String(value)
  for (const [name, inner] of Object.entries(readObject(value) ?? {})) {
    yield name
    if (name !== 'body') yield* textsIn(inner)
  }
}

const isText = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number'

/** Whether it names the person anywhere. */
const contains = (value: unknown, person: PersonIds): boolean =>
  names(value, person) || listsIn(value).some((list) => list.some((item) => contains(item, person)))

const writers = ['from', 'from_user_id', 'to', 'to_user_id', 'wa_id', 'user_id', 'recipient_id', 'recipient_user_id']

/** A message is not taken apart: a contact card of another person stays in it. */
const isOfOnePerson = (object: JsonObject): boolean => writers.some((name) => isText(object[name]))

/** The lists in a value that are in no other list. */
function listsIn(value: unknown): readonly unknown[][] {
  if (Array.isArray(value)) return [value]
  const object = readObject(value)
  return object === null || isOfOnePerson(object) ? [] : Object.values(object).flatMap(listsIn)
}

const onlyPerson = (value: unknown, person: PersonIds): unknown =>
  mapLists(value, (list) =>
    list.flatMap((item) => {
      if (names(item, person)) return [item]
      return contains(item, person) ? [onlyPerson(item, person)] : []
    }),
  )

const withoutPerson = (value: unknown, person: PersonIds): unknown =>
  mapLists(value, (list) => list.flatMap((item) => (names(item, person) ? [] : [withoutPerson(item, person)])))

function mapLists(value: unknown, change: (list: readonly unknown[]) => unknown[]): unknown {
  if (Array.isArray(value)) return change(value)
  const object = readObject(value)
  if (object === null || isOfOnePerson(object)) return value
  return Object.fromEntries(Object.entries(object).map(([name, inner]) => [name, mapLists(inner, change)]))
}

/** A webhook whose change has only contacts, or nothing, says nothing. */
function saysSomething(body: unknown): boolean {
  const entry = readObject(readArray(readObject(body)?.entry)[0])
  const value = readObject(readObject(readArray(entry?.changes)[0])?.value)
  const { contacts: _, ...others } = value ?? {}
  return listsIn(others).some(({ length }) => length > 0)
}
