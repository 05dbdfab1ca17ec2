import { HmacKey } from '../../../lib/hmac.ts'

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

/** Signs a delivery twice, for Stripe's libraries and for those of Standard Webhooks. */
export function signatureHeaders(keys: SigningKeys, eventId: string, seconds: number, body: Buffer): string[] {
  const hex = keys.text.sign(`${seconds}.`, body, 'hex')
  const base64 = keys.bytes.sign(`${eventId}.${seconds}.`, body, 'base64')
  return [
    'service-signature',
    `t=${seconds},v1=${hex}`,
    'webhook-id',
    eventId,
    'webhook-timestamp',
    String(seconds),
    'webhook-signature',
    `v1,${base64}`,
  ]
}
