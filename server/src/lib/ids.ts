import { randomBytes, randomFillSync } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `length` random base62 characters, each equally likely. */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // 248 is the largest multiple of 62 in a byte: what lies above would favour the first letters.
      if (byte < 248 && text.length < length) text += alphabet[byte % 62]
    }
  }
  return text
}

/** A number as `length` base62 characters, padded with zeros. */
export function toBase62(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = alphabet[rest % 62] + text
  return text
}

const pool = Buffer.alloc(4096)
let used = pool.length

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The last one that was made: when, and its place among those of the same millisecond. */
interface Last {
  ms: number
  count: number
}

/** Of the machine's own time, and of times that are given: these may lie apart, and neither must disturb the other's order. */
const ownTime: Last = { ms: 0, count: 0 }
const givenTime: Last = { ms: 0, count: 0 }

/**
 * A UUID of version 7: the time comes first, so rows inserted together lie together, and then a counter, so that those
 * made in one millisecond keep the order they were made in.
 */
export function newUuid(given?: number): string {
  if (used + 10 > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const at = (offset: number) => pool[used + offset] as number
  const last = given === undefined ? ownTime : givenTime
  const now = given ?? Date.now()
  // The counter begins anywhere in the lower half of its 12 bits; where it runs over, the next millisecond is borrowed.
  const start = ((at(0) & 7) << 8) | at(1)
  if (now === last.ms || now === last.ms - 1) {
    if (++last.count > 4095) {
      last.ms++
      last.count = start
    }
  } else {
    last.ms = now
    last.count = start
  }
  const ms = last.ms
  const order = last.count
  const time = ms.toString(16).padStart(12, '0')
  const tail =
    `7${(order >> 8).toString(16)}${hex[order & 255]}-${hex[(at(2) & 63) | 128]}${hex[at(3)]}-` +
    `${hex[at(4)]}${hex[at(5)]}${hex[at(6)]}${hex[at(7)]}${hex[at(8)]}${hex[at(9)]}`
  used += 10
  return `${time.slice(0, 8)}-${time.slice(8)}-${tail}`
}

/** `msg_…`, `snd_…` and so on: how an id is shown. */
export const withPrefix = (prefix: string, uuid: string): string => `${prefix}_${uuid}`

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export const isUuid = (text: string): boolean => uuidPattern.test(text)

/** The UUID of a shown id, or undefined if it is not an id of that kind. */
export function withoutPrefix(prefix: string, id: string): string | undefined {
  const uuid = id.startsWith(`${prefix}_`) ? id.slice(prefix.length + 1) : ''
  return isUuid(uuid) ? uuid : undefined
}
