import type { UpdateOutcome } from '@parley/contract/network-update'
import { type JsonObject, readArray } from '../read-json.ts'

/** A change that was not read completely. There is one for each such change, after the items that were read. */
export interface UnreadChange {
  kind: 'unread'
  /**
   * - `unknown_field`: no reader for its field
   * - `not_understood`: there is a reader, but it read nothing
   * - `partly_understood`: some members or parts were not read
   * - `notice`: a notice that changes nothing here, or less than it says
   */
  outcome: UpdateOutcome
  /** WhatsApp's name of the change; `unknown` if it has none. */
  field: string
  wabaId: string | null
  phoneNumberId: string | null
  /** Its position in the webhook. Null if the entry, or the whole webhook, has no list of changes. */
  entry: number | null
  change: number | null
  /** The members that were not read, such as `messages.0.foo`. Empty if it is the whole value. */
  paths: readonly string[]
}

/** The number and the account that a part of a webhook belongs to. It is routed by the number. */
export interface WebhookSource {
  wabaId: string | null
  phoneNumberId: string
}

/** One change of a webhook, as its reader gets it. */
export interface Change {
  field: string
  value: JsonObject
  wabaId: string | null
  /** The number that it names. */
  phoneNumberId: string | null
  /** The entry's time, which only changes without messages have. */
  time: unknown
  now: Date
  /** A reader adds the paths of the parts that it could not read. Members that it does not know are found without it. */
  unread: string[]
}

/** How many unread parts of a change are named. */
export const unreadMax = 20

/** Reads the items of a list. The first paths of those for which `read` returns null are added to the unread ones. */
export function readEach<Item>(
  value: JsonObject,
  list: string,
  unread: string[],
  read: (item: unknown, path: string) => Item | null,
): Item[] {
  return readArray(value[list]).flatMap((each, index) => {
    const path = `${list}.${index}`
    const item = read(each, path)
    if (item === null && unread.length < unreadMax) unread.push(path)
    return item ?? []
  })
}
