import { randomBytes, randomFillSync } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `length` random base62 characters, each equally likely. */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // 248 is the largest multiple of 62 in a byte. Larger values would make the first characters more likely.
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

/** The last UUID: its millisecond, and its counter within that millisecond. */
interface Last {
  /** The millisecond that was asked for. On overflow of the counter, `ms` is a later one. */
  asked: number
  ms: number
  count: number
  /** The UUID as text, in a buffer: a string that is concatenated from parts is copied again when it is first read. */
  letters: Buffer
}

const newLast = (): Last => ({
  asked: 0,
  ms: 0,
  count: 0,
  letters: Buffer.from('00000000-0000-7000-8000-000000000000'),
})

/**
 * Separate for the machine's own time and for times of the caller. They can differ, and each must keep its own order.
 */
const ownTime = newLast()
const givenTime = newLast()

/**
 * A UUID of version 7. It starts with the time, so rows that are inserted together are stored together. A counter
 * follows, so that UUIDs of the same millisecond sort in the order they were created.
 */
export function newUuid(given?: number): string {
  if (used + 10 > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const at = used
  used += 10
  const last = given === undefined ? ownTime : givenTime
  const now = given ?? Date.now()
  // The counter starts at a random value in the lower half of its 12 bits. On overflow, the next millisecond is used.
  const start = pool.readUInt16BE(at) & 2047
  if (now >= last.asked - 1 && now <= last.ms) {
    if (++last.count > 4095) move(last, last.ms + 1, start)
  } else {
    last.asked = now
    move(last, now, start)
  }
  const { count, letters } = last
  letters[15] = second[count >> 8] as number
  put(letters, 16, count & 255)
  put(letters, 19, (byte(at + 2) & 63) | 128)
  put(letters, 21, byte(at + 3))
  for (let index = 4; index < 10; index++) put(letters, 16 + 2 * index, byte(at + index))
  return letters.toString('latin1')
}

function move(last: Last, ms: number, count: number): void {
  last.ms = ms
  last.count = count
  const high = Math.floor(ms / 65_536)
  for (let index = 0; index < 4; index++) put(last.letters, 2 * index, (high >>> (24 - 8 * index)) & 255)
  put(last.letters, 9, (ms >>> 8) & 255)
  put(last.letters, 11, ms & 255)
}

const digits = Buffer.from('0123456789abcdef')
/** The characters of a byte's two hex digits. */
const first = Uint8Array.from({ length: 256 }, (_, byte) => digits[byte >> 4] as number)
const second = Uint8Array.from({ length: 256 }, (_, byte) => digits[byte & 15] as number)

const byte = (at: number): number => pool[at] as number

function put(letters: Buffer, at: number, value: number): void {
  letters[at] = first[value] as number
  letters[at + 1] = second[value] as number
}

/** The public form of an ID: `msg_…`, `snd_…` and so on. */
export const withPrefix = (prefix: string, uuid: string): string => `${prefix}_${uuid}`

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export const isUuid = (text: string): boolean => uuidPattern.test(text)

/** The UUID of a public ID, or undefined if the ID does not have this prefix. */
export function withoutPrefix(prefix: string, id: string): string | undefined {
  const uuid = id.startsWith(`${prefix}_`) ? id.slice(prefix.length + 1) : ''
  return isUuid(uuid) ? uuid : undefined
}

/** The first UUID of version 7 that can be created at a time: those from before are lower. */
export const firstIdAt = (at: Date): string => `${timeOfId(at)}-0000-0000-000000000000`
/** The last one of that millisecond. */
export const lastIdAt = (at: Date): string => `${timeOfId(at)}-ffff-ffff-ffffffffffff`

function timeOfId(at: Date): string {
  const hex = Math.max(0, at.getTime()).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
