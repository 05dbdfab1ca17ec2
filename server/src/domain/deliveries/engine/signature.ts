import { HmacKey } from '../../../lib/hmac.ts'

export const secretPrefix = 'whsec_'

/** What both schemes are keyed with: the secret as it is shown, and the bytes that its second part stands for. */
export interface SigningKeys {
  shown: HmacKey
  bytes: HmacKey
}

export const signingKeysOf = (secret: string): SigningKeys => ({
  shown: new HmacKey(Buffer.from(secret)),
  bytes: new HmacKey(Buffer.from(secret.slice(secretPrefix.length), 'base64')),
})

/** Signs a delivery twice: as Stripe's libraries read it, and as the Standard Webhooks ones do. */
export function signatureHeaders(keys: SigningKeys, eventId: string, seconds: number, body: Buffer): string[] {
  const hex = keys.shown.sign(`${seconds}.`, body, 'hex')
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
