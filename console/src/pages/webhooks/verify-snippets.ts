import type { Snippet } from '../../ui/code-block.tsx'

const sdk = '@parley/sdk'

/** How a receiver verifies a delivery: with the SDK, and by hand. */
export const verifySnippets: readonly Snippet[] = [
  {
    title: 'Express',
    language: 'js',
    code: `import express from 'express'
import { parleyWebhook } from '${sdk}/express'

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
  const parts = Object.fromEntries((header ?? '').split(',').map((part) => part.split('=', 2)))
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
    parts = dict(part.strip().partition("=")[::2] for part in header.split(","))
    t, v1 = parts.get("t", ""), parts.get("v1", "")
    if not t.isdecimal() or abs(time.time() - int(t)) > 300:
        return False
    signed = hmac.new(secret.encode(), t.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(signed.encode(), v1.encode())

# header: the request's Service-Signature; raw_body: its bytes, not parsed`,
  },
]
