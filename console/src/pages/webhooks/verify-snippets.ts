import type { Snippet } from '../../ui/code-block.tsx'

/** How a receiver verifies a delivery: with the SDK, and by hand. */
export const verifySnippets: readonly Snippet[] = [
  {
    title: 'Express',
    language: 'js',
    code: `import express from 'express'
import { parleyWebhook } from '@parley/sdk/express'

const app = express()
app.post(
  '/hooks/parley',
  parleyWebhook(process.env.PARLEY_WEBHOOK_SECRET, async (event) => {
    console.log(event.type, event.id)
  }),
)
app.use(express.json()) // after the webhook: its signature is over the raw body`,
  },
  {
    title: 'Node',
    language: 'js',
    code: `import { createHmac, timingSafeEqual } from 'node:crypto'

function isFromParley(rawBody, header, secret) {
  const parts = Object.fromEntries(header.split(',').map((part) => part.split('=', 2)))
  const signed = createHmac('sha256', secret).update(parts.t + '.').update(rawBody).digest()
  const given = Buffer.from(parts.v1 ?? '', 'hex')
  const isFresh = Math.abs(Date.now() / 1000 - Number(parts.t)) <= 300
  return isFresh && given.length === signed.length && timingSafeEqual(given, signed)
}

// header: the request's Service-Signature; rawBody: its bytes, not parsed`,
  },
  {
    title: 'Python',
    language: 'python',
    code: `import hashlib, hmac, time

def is_from_parley(raw_body: bytes, header: str, secret: str) -> bool:
    parts = dict(part.split("=", 1) for part in header.split(","))
    signed = hmac.new(secret.encode(), parts["t"].encode() + b"." + raw_body, hashlib.sha256)
    is_fresh = abs(time.time() - int(parts["t"])) <= 300
    return is_fresh and hmac.compare_digest(signed.hexdigest(), parts["v1"])

# header: the request's Service-Signature; raw_body: its bytes, not parsed`,
  },
]
