import { parseExactly } from '@parley/contract/exact-json'
import { readArray, readObject } from './read-json.ts'

/** The lists of a webhook whose items are about people, and the fields that name them: by number or by user ID. */
const namingFields: Readonly<Record<string, readonly [number: string, userId: string]>> = {
  messages: ['from', 'from_user_id'],
  statuses: ['recipient_id', 'recipient_user_id'],
  contacts: ['wa_id', 'user_id'],
  user_preferences: ['wa_id', 'user_id'],
}

/** Without any of these, a webhook says nothing. */
const tellingLists = ['messages', 'statuses', 'user_preferences', 'errors']

/**
 * A webhook of `splitWebhook`, which has one change, without what it says about a person. Null if nothing is left, and the same text
 * if it says nothing about them.
 */
export function withoutPerson(webhook: string, person: PersonIds): string | null {
  const body = readObject(parseExactly(webhook))
  const change = readObject(readArray(readObject(readArray(body?.entry)[0])?.changes)[0])
  const value = readObject(change?.value) as Record<string, unknown> | null
  if (value === null) return webhook
  let isChanged = false
  for (const [list, fields] of Object.entries(namingFields)) {
    const items = readArray(value[list])
    const rest = items.filter((item) => !isAbout(readObject(item), fields, person))
    if (rest.length === items.length) continue
    value[list] = rest
    isChanged = true
  }
  if (!isChanged) return webhook
  return tellingLists.some((list) => readArray(value[list]).length > 0) ? JSON.stringify(body) : null
}

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
  return numbers.includes(String(item?.[number])) && (isNumber || itemUser === null)
}
