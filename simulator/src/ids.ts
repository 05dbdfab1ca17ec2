import { createHash, randomBytes, randomInt } from 'node:crypto'

/** A message ID in WhatsApp's format: opaque, mixed case, base64 with padding. */
export function newWamid(waId: string): string {
  const digits = Buffer.from(waId, 'latin1')
  return `wamid.${Buffer.concat([Buffer.from([0x1c, 0x18, digits.length]), digits, Buffer.from([0x15, 0x02, 0x00, 0x11, 0x18, 0x12]), randomBytes(18)]).toString('base64')}`
}

/** A Graph object ID: 15 digits, so it is safe as a JSON number. */
export function newObjectId(firstDigit: number): string {
  return `${firstDigit}${String(randomInt(1e7)).padStart(7, '0')}${String(randomInt(1e7)).padStart(7, '0')}`
}

export function newTraceId(): string {
  return `A${randomBytes(16).toString('base64url')}`
}

export function newToken(): string {
  return `EAA${randomBytes(48).toString('base64url').replaceAll(/[-_]/g, 'Z')}`
}

export function newSecret(): string {
  return randomBytes(16).toString('hex')
}

/** The business-scoped user ID of a phone. The same number always gets the same ID. */
export function userIdOf(waId: string): string {
  const digest = createHash('sha256').update(waId).digest()
  return `${countryOf(waId)}.${digest.readBigUInt64BE(0).toString().padStart(20, '1').slice(0, 20)}`
}

const countries: [prefix: string, country: string][] = [
  ['1', 'US'],
  ['20', 'EG'],
  ['27', 'ZA'],
  ['31', 'NL'],
  ['33', 'FR'],
  ['34', 'ES'],
  ['351', 'PT'],
  ['39', 'IT'],
  ['41', 'CH'],
  ['43', 'AT'],
  ['44', 'GB'],
  ['49', 'DE'],
  ['51', 'PE'],
  ['52', 'MX'],
  ['54', 'AR'],
  ['55', 'BR'],
  ['56', 'CL'],
  ['57', 'CO'],
  ['62', 'ID'],
  ['91', 'IN'],
  ['234', 'NG'],
  ['254', 'KE'],
  ['971', 'AE'],
]

function countryOf(waId: string): string {
  return countries.find(([prefix]) => waId.startsWith(prefix))?.[1] ?? 'US'
}

/**
 * The `wa_id` of a phone number. As on WhatsApp, two countries rewrite it: Brazil drops the ninth digit outside the
 * south-east, Mexico drops the mobile 1.
 */
export function waIdOf(phoneNumber: string): string {
  const digits = phoneNumber.replaceAll(/\D/g, '')
  const brazil = /^55([3-9]\d)9(\d{8})$/.exec(digits)
  if (brazil) return `55${brazil[1]}${brazil[2]}`
  const mexico = /^521(\d{10})$/.exec(digits)
  if (mexico) return `52${mexico[1]}`
  return digits
}
