import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomBase62, toBase62 } from '../../lib/ids.ts'

/**
 * An API key: `prl_live_`, 32 random base62 characters, and 6 that are the CRC-32 of all before them. The sum lets a
 * mistyped or made-up key be told without a look into the database, and lets scanners recognise a leaked one.
 */
const prefix = 'prl_live_'
const randomLength = 32
const sumLength = 6
const length = prefix.length + randomLength + sumLength

export const newSecret = (): string => {
  const head = prefix + randomBase62(randomLength)
  return head + toBase62(crc32(head), sumLength)
}

export const isSecret = (text: string): boolean => hasForm(text) && hasRightSum(text)

const hasForm = (text: string): boolean => text.length === length && text.startsWith(prefix)

const hasRightSum = (text: string): boolean =>
  toBase62(crc32(text.slice(0, -sumLength)), sumLength) === text.slice(-sumLength)

/** The key in an `Authorization` header, if it holds something that could be one. */
export function secretOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !/^bearer /i.test(authorization)) return undefined
  const text = authorization.slice('Bearer '.length).trimStart()
  return isSecret(text) ? text : undefined
}

/** What is stored of a key: 32 bytes, each a letter of a text. */
export const digestOf = (secret: string): string => hash('sha256', secret, 'latin1')

/** What a list shows of it: the first and last four of the random part. */
export const hintOf = (secret: string): string => {
  const random = secret.slice(prefix.length, prefix.length + randomLength)
  return `${prefix}${random.slice(0, 4)}...${random.slice(-4)}`
}
