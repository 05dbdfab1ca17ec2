import type { Event } from '@parley/contract/events'

/** Why a delivery is not to be trusted. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly reason: 'no_signature' | 'malformed_signature' | 'too_old' | 'wrong_signature' | 'not_json'

  constructor(reason: WebhookError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

export interface VerifyOptions {
  /** The time to compare with, in milliseconds; now if left out. */
  nowMs?: number
  toleranceSeconds?: number
}

/**
 * Verifies a delivery and returns its event. `rawBody` is the body exactly as it came, not one that was parsed and written
 * again. Answer the request with something other than 2xx when this throws.
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array,
  signature: string | null | undefined,
  secret: string,
  { nowMs = Date.now(), toleranceSeconds = 300 }: VerifyOptions = {},
): Promise<Event> {
  if (!signature) throw new WebhookError('no_signature', 'The Service-Signature header is missing.')
  const [, seconds, hex] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(signature) ?? []
  if (!seconds || !hex) {
    throw new WebhookError('malformed_signature', 'The Service-Signature header is not of the form t=…,v1=….')
  }
  if (Math.abs(nowMs / 1000 - Number(seconds)) > toleranceSeconds) {
    throw new WebhookError('too_old', `The delivery was signed more than ${toleranceSeconds} seconds from now.`)
  }
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody
  if (!(await isSigned(seconds, body, hex, secret))) {
    throw new WebhookError('wrong_signature', 'The signature is not that of this body and secret.')
  }
  try {
    return JSON.parse(new TextDecoder().decode(body)) as Event
  } catch {
    throw new WebhookError('not_json', 'The body is not JSON.')
  }
}

/** WebCrypto's own verification compares in constant time. */
async function isSigned(seconds: string, body: Uint8Array, hex: string, secret: string): Promise<boolean> {
  const bytes = new TextEncoder().encode(secret)
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  const head = new TextEncoder().encode(`${seconds}.`)
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  const given = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  return crypto.subtle.verify('HMAC', key, given, signed)
}
