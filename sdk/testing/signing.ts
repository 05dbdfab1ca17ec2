import { createHmac } from 'node:crypto'

export const secret = `whsec_${Buffer.alloc(32, 'a secret for tests').toString('base64')}`

export const eventBody = (more: object = {}): string =>
  JSON.stringify({
    id: '2f1e0d9c-8b7a-4695-8473-625140fedcba',
    type: 'message.received',
    created_at: '2026-11-15T09:00:00.000Z',
    data: { text: '¿qué?' },
    ...more,
  })

export const nowSeconds = (): number => Math.floor(Date.now() / 1000)

/** The value of `Service-Signature`. */
export function sign(body: string | Uint8Array, { seconds = nowSeconds(), key = secret } = {}): string {
  return `t=${seconds},v1=${createHmac('sha256', key).update(`${seconds}.`).update(body).digest('hex')}`
}

/** The three headers of Standard Webhooks. */
export function signStandard(body: string | Uint8Array, { seconds = nowSeconds(), key = secret, id = 'e-1' } = {}) {
  const bytes = Buffer.from(key.replace('whsec_', ''), 'base64')
  const signature = createHmac('sha256', bytes).update(`${id}.${seconds}.`).update(body).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` }
}
