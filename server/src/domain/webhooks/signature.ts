import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'

export const secretPrefix = 'whsec_'

/** What both schemes are keyed with: the secret as it is shown, and the bytes that its second part stands for. */
export interface SigningKeys {
  shown: KeyObject
  bytes: KeyObject
}

export const signingKeysOf = (secret: string): SigningKeys => ({
  shown: createSecretKey(Buffer.from(secret)),
  bytes: createSecretKey(Buffer.from(secret.slice(secretPrefix.length), 'base64')),
})

/** Signs a delivery twice: as Stripe's libraries read it, and as the Standard Webhooks ones do. */
export function signatureHeaders(keys: SigningKeys, eventId: string, seconds: number, body: Buffer): string[] {
  const hex = createHmac('sha256', keys.shown).update(`${seconds}.`).update(body).digest('hex')
  const base64 = createHmac('sha256', keys.bytes).update(`${eventId}.${seconds}.`).update(body).digest('base64')
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
