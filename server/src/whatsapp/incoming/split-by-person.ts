import { parseExactly } from '@parley/contract/exact-json'
import { readArray, readObject } from '../read-json.ts'
import { isInId } from './person-in-id.ts'

/** The lists of a webhook whose items are about people, and the fields that name them: by number or by user ID. */
const namingFields: Readonly<Record<string, readonly [number: string, userId: string]>> = {
  messages: ['from', 'from_user_id'],
  statuses: ['recipient_id', 'recipient_user_id'],
  contacts: ['wa_id', 'user_id'],
  user_preferences: ['wa_id', 'user_id'],
}

/** Without any of these, a webhook says nothing. */
const tellingLists = ['messages', 'statuses', 'user_preferences', 'errors']

/** A webhook in two parts. Null if nothing is in a part; the rest is the same text if nothing is about the person. */
export interface SplitByPerson {
  /** What belongs to the person: an export has it, and an erasure removes it. */
  about: string | null
  rest: string | null
}

/** Splits a webhook of `splitWebhook`, which has one change. */
export function splitByPerson(webhook: string, person: PersonIds): SplitByPerson {
  const body = readObject(parseExactly(webhook))
  const entry = readObject(readArray(body?.entry)[0])
  const change = readObject(readArray(entry?.changes)[0])
  const value = readObject(change?.value)
  if (value === null) return { about: null, rest: webhook }
  const [about, rest]: [Lists, Lists] = [{}, {}]
  for (const [list, fields] of Object.entries(namingFields)) {
    if (!Array.isArray(value[list])) continue
    const isTheirs = (item: unknown) => isAbout(readObject(item), fields, person)
    about[list] = value[list].filter(isTheirs)
    rest[list] = value[list].filter((item) => !isTheirs(item))
  }
  if (Object.values(about).every((items) => items.length === 0)) return { about: null, rest: webhook }
  const withValue = (part: object) =>
    JSON.stringify({ ...body, entry: [{ ...entry, changes: [{ ...change, value: part }] }] })
  const { messaging_product, metadata } = value
  const left = { ...value, ...rest }
  return {
    about: withValue({ messaging_product, metadata, ...about }),
    rest: tellingLists.some((list) => readArray(left[list]).length > 0) ? withValue(left) : null,
  }
}

type Lists = Record<string, readonly unknown[]>

export interface PersonIds {
  /** Named by number. Otherwise the numbers are those that the user IDs once had; they may be of others by now. */
  isNumber: boolean
  numbers: readonly string[]
  userIds: readonly string[]
}

function isAbout(
  item: Record<string, unknown> | null,
  [number, userId]: readonly [string, string],
  { isNumber, numbers, userIds }: PersonIds,
): boolean {
  const itemUser = item?.[userId] ?? null
  if (itemUser !== null && userIds.includes(String(itemUser))) return true
  const hasNumber = numbers.includes(String(item?.[number])) || isInId(item?.id, [...numbers, ...userIds])
  return hasNumber && (isNumber || itemUser === null)
}
