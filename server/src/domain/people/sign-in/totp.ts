import { createHmac, randomBytes } from 'node:crypto'
import { sameBytes } from '../../../lib/hash.ts'

/** One-time codes of an authenticator app: RFC 6238 with six digits, 30 seconds and SHA-1, which every app supports. */
const stepMs = 30_000
const digits = 6

export const newTotpSecret = (): string => toBase32(randomBytes(20))

/** The content of the QR code. */
export function totpUri(secret: string, email: string): string {
  const label = `Parley:${email}`
  return `otpauth://totp/${encodeURIComponent(label)}?secret=${secret}&issuer=Parley&algorithm=SHA1&digits=${digits}&period=30`
}

export const codeAt = (secret: string, at: Date): string => codeOf(secret, Math.floor(at.getTime() / stepMs))

/**
 * The time step that the code belongs to, or null. Clocks differ, so the previous and the next step are accepted too. Steps
 * up to `lastStep` are used up.
 */
export function stepOfCode(secret: string, code: string, at: Date, lastStep: number | null): number | null {
  const typed = Buffer.from(code.replaceAll(/\s/g, ''))
  const now = Math.floor(at.getTime() / stepMs)
  let found: number | null = null
  for (const step of [now - 1, now, now + 1]) {
    if (sameBytes(typed, Buffer.from(codeOf(secret, step))) && step > (lastStep ?? -1)) found = step
  }
  return found
}

function codeOf(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const offset = (mac.at(-1) as number) & 15
  return String((mac.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** digits).padStart(digits, '0')
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function toBase32(bytes: Buffer): string {
  let bits = ''
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0')
  return (bits.match(/.{5}/g) ?? []).map((five) => letters[Number.parseInt(five, 2)]).join('')
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)))
}
