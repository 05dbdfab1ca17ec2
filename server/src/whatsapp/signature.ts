import { createHash, timingSafeEqual } from 'node:crypto'
import { HmacKey } from '../lib/hmac.ts'

const signatureForm = /^sha256=([0-9a-f]{64})$/

/** Whether a header has the form of the network's signature at all, which shows before there is a body. */
export const isSignatureForm = (header: string | string[] | undefined): boolean =>
  typeof header === 'string' && signatureForm.test(header)

/**
 * Whether the network signed exactly these bytes with the app's secret. The bytes must be the body as it came: the
 * network escapes what is not ASCII, so a body that was parsed and written again never matches.
 */
export function isSignedByNetwork(body: Buffer, header: string | string[] | undefined, key: HmacKey | null): boolean {
  if (typeof header !== 'string' || key === null) return false
  const given = signatureForm.exec(header)?.[1]
  return given !== undefined && timingSafeEqual(Buffer.from(given), Buffer.from(key.sign('', body, 'hex')))
}

/** What an app's secret signs with; nothing, if there is none. */
export const networkKey = (appSecret: string): HmacKey | null =>
  appSecret === '' ? null : new HmacKey(Buffer.from(appSecret))

/**
 * The handshake when somebody saves the callback address: returns the challenge to echo, bare, as text; null is a 403.
 * Takes the raw query string because the parameters' names hold dots, which many query parsers rewrite.
 */
export function answerHandshake(queryString: string, verifyToken: string): string | null {
  const query = new URLSearchParams(queryString)
  if (only(query, 'hub.mode') !== 'subscribe') return null
  const token = only(query, 'hub.verify_token')
  const challenge = only(query, 'hub.challenge')
  if (token === null || challenge === null || verifyToken === '') return null
  // It goes back to whoever asked: nothing that a browser could take for markup.
  if (!/^[A-Za-z0-9_.~-]{1,256}$/.test(challenge)) return null
  return isSameText(token, verifyToken) ? challenge : null
}

function only(query: URLSearchParams, name: string): string | null {
  const values = query.getAll(name)
  return values.length === 1 ? (values[0] ?? null) : null
}

/** Hashed first, so that neither content nor length shows in the time it takes. */
function isSameText(left: string, right: string): boolean {
  return timingSafeEqual(createHash('sha256').update(left).digest(), createHash('sha256').update(right).digest())
}
