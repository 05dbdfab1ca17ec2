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
/** The same, as hexadecimal digits. */
let poolText = ''
let used = pool.length

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The last one that was made: when, and its place among those of the same millisecond. */
interface Last {
  ms: number
  count: number
  /** How one begins that was made then. */
  prefix: string
}

/** Of the machine's own time, and of times that are given: these may lie apart, and neither must disturb the other's order. */
const ownTime: Last = { ms: 0, count: 0, prefix: '' }
const givenTime: Last = { ms: 0, count: 0, prefix: '' }

/**
 * A UUID of version 7: the time comes first, so rows inserted together lie together, and then a counter, so that those
 * made in one millisecond keep the order they were made in.
 */
export function newUuid(given?: number): string {
  if (used + 10 > pool.length) {
    poolText = randomFillSync(pool).toString('hex')
    used = 0
  }
  const at = used
  used += 10
  const last = given === undefined ? ownTime : givenTime
  const now = given ?? Date.now()
  // The counter begins anywhere in the lower half of its 12 bits; where it runs over, the next millisecond is borrowed.
  const start = pool.readUInt16BE(at) & 2047
  if (now === last.ms || now === last.ms - 1) {
    if (++last.count > 4095) move(last, last.ms + 1, start)
  } else move(last, now, start)
  const variant = ((pool[at + 2] as number) & 63) | 128
  const text = `${last.prefix}${(last.count >> 8).toString(16)}${hex[last.count & 255]}-${hex[variant]}`
  return `${text}${poolText.slice(2 * at + 6, 2 * at + 8)}-${poolText.slice(2 * at + 8, 2 * at + 20)}`
}

function move(last: Last, ms: number, count: number): void {
  const time = ms.toString(16).padStart(12, '0')
  last.ms = ms
  last.count = count
  last.prefix = `${time.slice(0, 8)}-${time.slice(8)}-7`
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
