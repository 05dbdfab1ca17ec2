import { timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../lib/hash.ts'
import { HmacKey } from '../../lib/hmac.ts'

const signaturePattern = /^sha256=([0-9a-f]{64})$/

/** Whether a header has the format of a signature. Checked before the body is read. */
export const hasSignatureFormat = (header: string | string[] | undefined): boolean =>
  typeof header === 'string' && signaturePattern.test(header)

/**
 * Whether WhatsApp signed these bytes with the app secret. They must be the raw body: WhatsApp escapes non-ASCII
 * characters, so a body that was parsed and serialized again does not match.
 */
export function isSignedByNetwork(body: Buffer, header: string | string[] | undefined, key: HmacKey | null): boolean {
  if (typeof header !== 'string' || key === null) return false
  const given = signaturePattern.exec(header)?.[1]
  return given !== undefined && timingSafeEqual(Buffer.from(given), Buffer.from(key.sign('', body, 'hex')))
}

/** The HMAC key of an app secret; null if the secret is empty. */
export const networkKey = (appSecret: string): HmacKey | null =>
  appSecret === '' ? null : new HmacKey(Buffer.from(appSecret))

/**
 * The handshake when the callback URL is saved at Meta. Returns the challenge, which is the plain-text response; null
 * means 403. Takes the raw query string, because many query parsers rewrite the dots in the parameter names.
 */
export function handshakeChallenge(queryString: string, verifyToken: string): string | null {
  const query = new URLSearchParams(queryString)
  if (onlyValue(query, 'hub.mode') !== 'subscribe') return null
  const token = onlyValue(query, 'hub.verify_token')
  const challenge = onlyValue(query, 'hub.challenge')
  if (token === null || challenge === null || verifyToken === '') return null
  // The response echoes it, so it must not contain anything that a browser could interpret as HTML.
  if (!/^[A-Za-z0-9_.~-]{1,256}$/.test(challenge)) return null
  return isSameText(token, verifyToken) ? challenge : null
}

function onlyValue(query: URLSearchParams, name: string): string | null {
  const values = query.getAll(name)
  return values.length === 1 ? (values[0] ?? null) : null
}

/** Compares hashes, so that the time reveals neither the content nor the length. */
const isSameText = (left: string, right: string): boolean => timingSafeEqual(sha256(left), sha256(right))
