import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomBase62, toBase62 } from '../../lib/ids.ts'

/**
 * An API key: `prl_live_`, 32 random base62 characters, and a checksum of 6 characters, the CRC-32 of everything before it.
 * The checksum lets us reject a mistyped key without a database query, and lets scanners recognize a leaked one.
 */
const prefix = 'prl_live_'
const randomLength = 32
const checksumLength = 6
const length = prefix.length + randomLength + checksumLength

export const newSecret = (): string => {
  const head = prefix + randomBase62(randomLength)
  return head + toBase62(crc32(head), checksumLength)
}

export const isSecret = (text: string): boolean => hasKeyFormat(text) && hasValidChecksum(text)

const hasKeyFormat = (text: string): boolean => text.length === length && text.startsWith(prefix)

const hasValidChecksum = (text: string): boolean =>
  toBase62(crc32(text.slice(0, -checksumLength)), checksumLength) === text.slice(-checksumLength)

/** The key in an `Authorization` header, if it is well-formed. */
export function secretOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !/^bearer /i.test(authorization)) return undefined
  const text = authorization.slice('Bearer '.length).trimStart()
  return isSecret(text) ? text : undefined
}

/** The SHA-256 that is stored of a key, as a Latin-1 string of 32 characters. */
export const digestOf = (secret: string): string => hash('sha256', secret, 'latin1')

/** The hint of an invalid key: one with a wrong character, or with something missing or added after the random part. */
export function hintIn(authorization: string | undefined): string | null {
  const start = authorization?.indexOf(prefix) ?? -1
  if (authorization === undefined || start < 0) return null
  const head = authorization.slice(start, start + prefix.length + randomLength)
  return head.length === prefix.length + randomLength && /^\w+$/.test(head) ? hintOf(head) : null
}

/** The part of a key that lists show: the first and last four random characters. */
export const hintOf = (secret: string): string => {
  const random = secret.slice(prefix.length, prefix.length + randomLength)
  return `${prefix}${random.slice(0, 4)}...${random.slice(-4)}`
}
