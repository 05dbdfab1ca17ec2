import { createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'

export interface NetworkSettings {
  /** Where webhooks are posted. Without it, messages are accepted and nothing follows. */
  ingressUrl: string
  appSecret: string
}

export interface NetworkLog {
  /** When each message was first sent, by our ID, in milliseconds since 1970. */
  calledAt: Record<string, number>
  /** Messages that were sent again. */
  repeats: number
  /** Webhooks that got another response than 200. */
  rejected: number
}

interface Call {
  to: string
  text: { body: string }
  biz_opaque_callback_data: string
}

interface SentMessage {
  phoneNumberId: string
  id: string
  to: string
  number: string
  opaque: string
}

const newLog = (): NetworkLog => ({ calledAt: {}, repeats: 0, rejected: 0 })
const seconds = () => String(Math.trunc(Date.now() / 1000))

/**
 * A network that does as little work as possible. It accepts every message, and then posts the webhooks of its lifecycle, one
 * after the other: sent, delivered, read, and a reply that quotes it. The IDs contain the number in the text, `number:<n>;`, by
 * which the receiver recognizes the events. `PUT /` changes the settings; `GET /` returns the log and starts a new one.
 */
export async function startNetwork(): Promise<number> {
  let log = newLog()
  let post: ((body: string) => Promise<void>) | null = null

  function use({ ingressUrl, appSecret }: NetworkSettings): void {
    const { origin, pathname } = new URL(ingressUrl)
    const pool = new Pool(origin, { connections: 64, pipelining: 1, keepAliveTimeout: 30_000 })
    post = async (body) => {
      const signature = `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`
      const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signature }
      const response = await pool.request({ method: 'POST', path: pathname, headers, body })
      await response.body.dump()
      if (response.statusCode !== 200) log.rejected++
    }
  }

  function accept(phoneNumberId: string, { to, text, biz_opaque_callback_data: opaque }: Call): SentMessage {
    if (log.calledAt[opaque] === undefined) log.calledAt[opaque] = performance.timeOrigin + performance.now()
    else log.repeats++
    const [number = ''] = /number:\d+;/.exec(text.body) ?? []
    const id = `wamid.${randomUUID()}${number}`
    return { phoneNumberId, id, to: to.replace('+', ''), number, opaque }
  }

  const server = createServer(async (request, response) => {
    const body = await readText(request)
    response.setHeader('content-type', 'application/json')
    if (request.method === 'GET') {
      response.end(JSON.stringify(log))
      log = newLog()
    } else if (request.method === 'PUT') {
      use(JSON.parse(body) as NetworkSettings)
      response.end('{}')
    } else {
      const phoneNumberId = request.url?.split('/').at(-2) ?? ''
      const message = accept(phoneNumberId, JSON.parse(body) as Call)
      const contacts = [{ input: message.to, wa_id: message.to }]
      response.end(JSON.stringify({ messaging_product: 'whatsapp', contacts, messages: [{ id: message.id }] }))
      if (post) report(post, message).catch(() => log.rejected++)
    }
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function report(post: (body: string) => Promise<void>, message: SentMessage): Promise<void> {
  for (const status of ['sent', 'delivered', 'read']) await post(webhookOf(message, statusOf(message, status)))
  await post(webhookOf(message, replyTo(message)))
}

function webhookOf({ phoneNumberId, to }: SentMessage, content: object): string {
  const value = {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550780001', phone_number_id: phoneNumberId },
    contacts: [{ profile: { name: 'Ana' }, wa_id: to }],
    ...content,
  }
  return JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
  })
}

function statusOf({ id, to, opaque }: SentMessage, status: string): object {
  const pricing = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' }
  const base = { id, status, timestamp: seconds(), recipient_id: to, biz_opaque_callback_data: opaque }
  // The first two statuses have a price.
  return { statuses: [status === 'read' ? base : { ...base, pricing }] }
}

function replyTo({ id, to, number }: SentMessage): object {
  const context = { from: '15550780001', id }
  const text = { body: `Thank you! ${number}` }
  return { messages: [{ from: to, id: `wamid.${randomUUID()}`, timestamp: seconds(), type: 'text', context, text }] }
}

async function readText(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}
