import { createHmac, timingSafeEqual } from 'node:crypto'
import { fastify } from 'fastify'
import { Pool } from 'undici'

interface Message {
  id: string
}
interface Payload {
  entry: { changes: { value: { metadata: object; messages?: Message[] } }[] }[]
}

const hmac = (secret: string, data: string | Buffer) => createHmac('sha256', secret).update(data).digest('hex')

/**
 * The same path without storage: webhooks of WhatsApp are verified, parsed and deduplicated in memory, and each event is
 * signed and posted by a pool of 64 connections. The difference to this is the cost of storing.
 */
export async function startRawLimit(appSecret: string, hookUrl: URL): Promise<number> {
  const pool = new Pool(hookUrl.origin, { connections: 64, pipelining: 1, keepAliveTimeout: 30_000 })
  const seen = new Set<string>()
  const queue: { id: string; body: string }[] = []
  let inFlight = 0

  async function deliver({ id, body }: { id: string; body: string }): Promise<void> {
    const seconds = Math.floor(Date.now() / 1000)
    const response = await pool.request({
      method: 'POST',
      path: hookUrl.pathname,
      headers: {
        'content-type': 'application/json',
        'service-signature': `t=${seconds},v1=${hmac('whsec_bench', `${seconds}.${body}`)}`,
        'service-event': 'message.received',
        'service-delivery': id,
      },
      body,
    })
    await response.body.dump()
  }

  function pump(): void {
    while (inFlight < 64) {
      const next = queue.shift()
      if (!next) return
      inFlight++
      deliver(next)
        .catch(() => {})
        .finally(() => {
          inFlight--
          pump()
        })
    }
  }

  const app = fastify({ bodyLimit: 8 << 20 })
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.post('/network/whatsapp/:app', async (request, reply) => {
    const bytes = request.body as Buffer
    const expected = Buffer.from(`sha256=${hmac(appSecret, bytes)}`)
    const given = Buffer.from(String(request.headers['x-hub-signature-256'] ?? ''))
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return reply.code(401).send()
    const payload = JSON.parse(bytes.toString()) as Payload
    for (const { value } of payload.entry.flatMap((entry) => entry.changes)) {
      for (const message of value.messages ?? []) {
        if (seen.has(message.id)) continue
        seen.add(message.id)
        const id = crypto.randomUUID()
        const created_at = new Date().toISOString()
        queue.push({ id, body: JSON.stringify({ id, type: 'message.received', created_at, data: message }) })
      }
    }
    setImmediate(pump)
    return reply.code(200).send('ok')
  })
  return Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
}
