/** Finds the members of a JSON value that are not listed in a tree of known members. See `known-members.ts`. */
import { cleanText, isTime, type JsonObject, readId, readNonBlank, readNumber, readPhone } from '../read-json.ts'
import { isUserId } from './user-id.ts'

/** What is read of a value: the whole value if the function returns true, the listed members, the items, or one of several cases. */
export type Known = IsRead | Members | List | Cases

type IsRead = (value: unknown) => boolean
interface Members {
  kind: 'members'
  members: ReadonlyMap<string, Known>
  required: string | undefined
}
interface List {
  kind: 'list'
  item: Known
  max: number
}
interface Cases {
  kind: 'cases'
  caseOf(value: Record<string, unknown>): string | null
  cases: ReadonlyMap<string, Members>
  otherwise: Members
}
type MembersByName = Readonly<Record<string, Known>>

/** An object. It is unread as a whole if a required member is missing. */
export const members = (byName: MembersByName, required?: string): Members => ({
  kind: 'members',
  members: new Map(Object.entries(byName)),
  required,
})

/** A list of which the first `max` items are read. */
export const list = (item: Known, max = Number.POSITIVE_INFINITY): List => ({ kind: 'list', item, max })

/** An object with common members, and members that depend on its case. */
export const cases = (
  caseOf: Cases['caseOf'],
  always: MembersByName,
  byCase: Readonly<Record<string, MembersByName>>,
): Cases => ({
  kind: 'cases',
  caseOf,
  cases: new Map(Object.entries(byCase).map(([name, more]) => [name, members({ ...always, ...more })])),
  otherwise: members(always),
})

/** A member that is read as text. */
type TextMember = IsRead & { read(value: unknown): string | null }
export type TextMembers = Readonly<Record<string, TextMember>>

const isText = (value: unknown, maxLength: number): boolean => typeof value === 'string' && value.length <= maxLength

/** Text that is stored completely. */
export const text = (maxLength: number): TextMember =>
  Object.assign((value: unknown) => isText(value, maxLength), {
    read: (value: unknown) => readNonBlank(value, maxLength),
  })

export const id = (maxLength = 256): TextMember =>
  Object.assign((value: unknown) => isText(value, maxLength) || Number.isSafeInteger(value), {
    read: (value: unknown) => readId(value, maxLength),
  })

/** The texts of an object, by the same list of members by which its unread ones are found. */
export const readMembers = <Members extends TextMembers>(value: JsonObject, members: Members) =>
  Object.fromEntries(Object.entries(members).map(([name, { read }]) => [name, read(value[name])])) as Record<
    keyof Members,
    string | null
  >

export const time: IsRead = isTime
export const number: IsRead = (value) => readNumber(value) !== null
export const flag: IsRead = (value) => typeof value === 'boolean'
/** A phone number, or a user ID in its place. Empty if the number is withheld. */
export const person: IsRead = (value) =>
  value === '' || readPhone(value) !== null || (typeof value === 'string' && isUserId(value))
/** A member that this service knows and has no use for. */
export const unused: IsRead = () => true
export const allUnused = (...names: string[]): MembersByName => Object.fromEntries(names.map((name) => [name, unused]))

const maxPaths = 20
const maxPathLength = 200

/** The paths of the members that are not read, at most 20. Costs nothing but the walk if all are known. */
export function unreadIn(value: unknown, known: Known): readonly string[] {
  if (isRead(value, known, '', null)) return none
  const found: string[] = []
  isRead(value, known, '', found)
  return found.slice(0, maxPaths)
}

const none: readonly string[] = []

/** If `found` is null, stops at the first unread member. */
function isRead(value: unknown, known: Known, path: string, found: string[] | null): boolean {
  if (value === null || value === undefined) return true
  if (typeof known === 'function') return known(value) || report(path, found)
  if (typeof value !== 'object' || Array.isArray(value) !== (known.kind === 'list')) return report(path, found)
  if (known.kind === 'list') return areItemsRead(value as unknown[], known, path, found)
  const object = value as Record<string, unknown>
  const of = known.kind === 'cases' ? caseIn(object, known) : known
  if (of.required !== undefined && !object[of.required]) return report(path, found)
  let all = true
  // Parsed JSON has no inherited members.
  for (const name in object) {
    const inner = of.members.get(name)
    const at = found === null ? path : `${path}${path === '' ? '' : '.'}${name}`
    if (inner === undefined ? report(at, found) : isRead(object[name], inner, at, found)) continue
    all = false
    if (found === null || found.length >= maxPaths) return false
  }
  return all
}

function areItemsRead(items: readonly unknown[], { item, max }: List, path: string, found: string[] | null): boolean {
  let all = true
  for (let index = 0; index < items.length; index++) {
    const at = found === null ? path : `${path}.${index}`
    if (index < max ? isRead(items[index], item, at, found) : report(at, found)) continue
    all = false
    if (found === null || found.length >= maxPaths) return false
  }
  return all
}

const caseIn = (value: Record<string, unknown>, { caseOf, cases, otherwise }: Cases): Members =>
  cases.get(caseOf(value) ?? '') ?? otherwise

function report(path: string, found: string[] | null): false {
  found?.push(cleanText(path, maxPathLength))
  return false
}
