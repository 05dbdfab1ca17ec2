/**
 * Examples to copy that verify a delivery without a library. A test of the service signs deliveries and runs the
 * examples.
 */
export const typescript = `import { createHmac, timingSafeEqual } from 'node:crypto'

// Throws unless the delivery is genuine and fresh.
// rawBody is the unparsed request body.
export function verifyDelivery(rawBody: Buffer, header: string | undefined, secret: string): void {
  if (!secret) throw new Error('The signing secret is not set')
  const parts = (header ?? '').split(',').map((part) => part.trim().split('=', 2))
  const { t = '' } = Object.fromEntries(parts)
  // Two while a new secret is being introduced.
  const signatures = parts.flatMap(([name, value = '']) =>
    name === 'v1' && /^[0-9a-f]{64}$/.test(value) ? [Buffer.from(value, 'hex')] : [],
  )
  if (!/^\\d{1,15}$/.test(t) || signatures.length === 0) throw new Error('Service-Signature is malformed')
  if (Math.abs(Date.now() / 1000 - Number(t)) > 300) throw new Error('The delivery is too old')
  const expected = createHmac('sha256', secret).update(\`\${t}.\`).update(rawBody).digest()
  if (!signatures.some((signature) => timingSafeEqual(expected, signature))) {
    throw new Error('The signature does not match')
  }
}
`

export const python = `import hashlib
import hmac
import re
import time


def verify_delivery(raw_body: bytes, header: str, secret: str) -> None:
    """Raises ValueError unless the delivery is genuine and fresh.

    raw_body is the unparsed request body: request.get_data() in Flask, request.body in Django,
    await request.body() in FastAPI.
    """
    if not secret:
        raise ValueError("the signing secret is not set")
    parts = [part.strip().partition("=")[::2] for part in (header or "").split(",")]
    t = dict(parts).get("t", "")
    signatures = [value for name, value in parts if name == "v1"]  # two while a new secret is being introduced
    if not re.fullmatch(r"[0-9]{1,15}", t):
        raise ValueError("Service-Signature is malformed")
    if abs(time.time() - int(t)) > 300:
        raise ValueError("the delivery is too old")
    signed = t.encode() + b"." + raw_body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    if not any(hmac.compare_digest(expected.encode(), each.encode()) for each in signatures):
        raise ValueError("the signature does not match")
`

const sdkName = '@parley/sdk'

export const sdk = `import express from 'express'
import { parleyWebhook } from '${sdkName}/express' // also fastify, hono, fetch

const app = express()
app.post(
  '/hooks/parley',
  parleyWebhook(process.env.PARLEY_WEBHOOK_SECRET!, async (event) => {
    if (event.type === 'message.received') console.log(event.data.from, event.data.text)
  }),
)
app.use(express.json()) // after the webhook, which needs the raw body
app.listen(3000)
`
