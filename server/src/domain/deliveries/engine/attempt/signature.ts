import { HmacKey } from '../../../../lib/hmac.ts'

export const secretPrefix = 'whsec_'

/** The keys of the two signature schemes. */
export interface SigningKeys {
  /** Stripe's scheme: the secret as text, with its prefix. */
  text: HmacKey
  /** Standard Webhooks: the bytes that follow the prefix in base64. */
  bytes: HmacKey
}

export const signingKeysOf = (secret: string): SigningKeys => ({
  text: new HmacKey(Buffer.from(secret)),
  bytes: new HmacKey(Buffer.from(secret.slice(secretPrefix.length), 'base64')),
})

/** The signatures of an attempt as they are stored: the values of `service-signature` and `webhook-signature`, one in a line. */
export const signaturesIn = (headers: readonly string[]): string => `${headers[1]}\n${headers[7]}`

/**
 * Signs a delivery for Stripe's libraries and for those of Standard Webhooks, with each secret: during a staged rotation
 * there are two, and a receiver has to accept either signature.
 */
export function signatureHeaders(
  secrets: readonly SigningKeys[],
  eventId: string,
  seconds: number,
  body: Buffer,
): string[] {
  const hex = secrets.map(({ text }) => `,v1=${text.sign(`${seconds}.`, body, 'hex')}`)
  const base64 = secrets.map(({ bytes }) => `v1,${bytes.sign(`${eventId}.${seconds}.`, body, 'base64')}`)
  return [
    'service-signature',
    `t=${seconds}${hex.join('')}`,
    'webhook-id',
    eventId,
    'webhook-timestamp',
    String(seconds),
    'webhook-signature',
    base64.join(' '),
  ]
}
