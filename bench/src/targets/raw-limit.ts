import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { fastify } from 'fastify'
import { Pool } from 'undici'

export interface RawLimitOptions {
  appSecret: string
  hookUrl: string
  /** Where messages are sent, and from which number. */
  networkUrl?: string
  phoneNumberId?: string
}

/** Signs the deliveries. */
export const rawLimitSecret = 'whsec_bench'

interface Status {
  id: string
  status: string
  recipient_id: string
  biz_opaque_callback_data: string
}
interface Payload {
  entry: { changes: { value: { messages?: { id: string }[]; statuses?: Status[] } }[] }[]
}
interface SendRequest {
  to: string
  text: { body: string }
}

const hmac = (secret: string, data: string | Buffer) => createHmac('sha256', secret).update(data).digest('hex')

/**
 * The same path without storage. Webhooks of WhatsApp are verified, parsed and deduplicated in memory, and each event is
 * signed and posted by a pool of 64 connections. Messages are accepted, and sent by another pool. The difference to this is the
 * cost of storing.
 */
export async function startRawLimit(options: RawLimitOptions): Promise<number> {
  const publish = newDeliveries(new URL(options.hookUrl))
  const send = newCalls(options, publish)
  const app = fastify({ bodyLimit: 8 << 20 })
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.post('/network/whatsapp/:app', async (request, reply) => {
    const bytes = request.body as Buffer
    const expected = Buffer.from(`sha256=${hmac(options.appSecret, bytes)}`)
    const given = Buffer.from(String(request.headers['x-hub-signature-256'] ?? ''))
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return reply.code(401).send()
    const payload = JSON.parse(bytes.toString()) as Payload
    for (const { value } of payload.entry.flatMap((entry) => entry.changes)) {
      for (const message of value.messages ?? []) publish('message.received', message.id, message)
      for (const status of value.statuses ?? []) publish(`message.${status.status}`, status.id, statusData(status))
    }
    return reply.code(200).send('ok')
  })
  app.post('/v1/messages', async (request, reply) => {
    const message = JSON.parse((request.body as Buffer).toString()) as SendRequest
    const id = `msg_${randomUUID()}`
    send({ id, ...message })
    return reply.code(202).send({ id, status: 'queued', to: message.to, created_at: new Date().toISOString() })
  })
  return Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
}

const statusData = ({ id, status, recipient_id: to, biz_opaque_callback_data: message_id }: Status) => ({
  message_id,
  to,
  status,
  wa_message_id: id,
  occurred_at: new Date().toISOString(),
})

type Publish = (type: string, waMessageId: string, data: object) => void

/** Posts each event once: later ones of the same type and message are ignored. */
function newDeliveries(hookUrl: URL): Publish {
  const pool = new Pool(hookUrl.origin, { connections: 64, pipelining: 1, keepAliveTimeout: 30_000 })
  const seen = new Set<string>()
  const deliver = inOrder(64, async ({ id, type, body }: { id: string; type: string; body: string }) => {
    const seconds = Math.floor(Date.now() / 1000)
    const response = await pool.request({
      method: 'POST',
      path: hookUrl.pathname,
      headers: {
        'content-type': 'application/json',
        'service-signature': `t=${seconds},v1=${hmac(rawLimitSecret, `${seconds}.${body}`)}`,
        'service-event': type,
        'service-delivery': id,
      },
      body,
    })
    await response.body.dump()
  })
  return (type, waMessageId, data) => {
    const key = `${type} ${waMessageId}`
    if (seen.has(key)) return
    seen.add(key)
    const id = randomUUID()
    deliver({ id, type, body: JSON.stringify({ id, type, created_at: new Date().toISOString(), data }) })
  }
}

function newCalls({ networkUrl, phoneNumberId }: RawLimitOptions, publish: Publish) {
  const pool = new Pool(networkUrl ?? 'http://127.0.0.1:9', {
    connections: 64,
    pipelining: 1,
    keepAliveTimeout: 30_000,
  })
  return inOrder(64, async ({ id, to, text }: SendRequest & { id: string }) => {
    const response = await pool.request({
      method: 'POST',
      path: `/v25.0/${phoneNumberId}/messages`,
      headers: { 'content-type': 'application/json', authorization: 'Bearer token' },
      body: JSON.stringify({
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: `+${to}`,
        type: 'text',
        text: { preview_url: false, ...text },
        biz_opaque_callback_data: id,
      }),
    })
    const { messages } = (await response.body.json()) as { messages: { id: string }[] }
    const status = { id: messages[0]?.id ?? '', status: 'sent', recipient_id: to, biz_opaque_callback_data: id }
    publish('message.sent', status.id, statusData(status))
  })
}

/** Runs `work` for each item in order, at most `limit` at a time, after the current request has its response. */
function inOrder<Item>(limit: number, work: (item: Item) => Promise<void>): (item: Item) => void {
  const queue: Item[] = []
  let running = 0
  let scheduled = false
  function pump(): void {
    scheduled = false
    while (running < limit) {
      const next = queue.shift()
      if (next === undefined) return
      running++
      work(next)
        .catch(() => {})
        .finally(() => {
          running--
          pump()
        })
    }
  }
  return (item) => {
    queue.push(item)
    if (!scheduled) setImmediate(pump)
    scheduled = true
  }
}
