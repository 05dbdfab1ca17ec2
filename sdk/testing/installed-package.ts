// A program that uses the installed package: receives webhooks, sends a message, waits until it is delivered.
import { createServer } from 'node:http'
import { type EventOf, type Outgoing, Parley, ParleyError, type ParleyEvent, verifyWebhook } from '@parley/sdk'
import { parleyWebhook } from '@parley/sdk/express'
import { parleyWebhook as fastifyWebhook } from '@parley/sdk/fastify'
import { parleyWebhook as fetchWebhook } from '@parley/sdk/fetch'
import { parleyWebhook as honoWebhook } from '@parley/sdk/hono'

const { PARLEY_URL = '', PARLEY_API_KEY = '', PARLEY_WEBHOOK_SECRET = '', PORT = '0' } = process.env

const delivered = new Promise<EventOf<'message.delivered'>>((resolve) => {
  const receive = parleyWebhook(PARLEY_WEBHOOK_SECRET, (event) => {
    console.log(describe(event))
    if (event.type === 'message.delivered') resolve(event)
  })
  createServer(receive).listen(Number(PORT), '127.0.0.1')
})

const parley = new Parley({ baseUrl: PARLEY_URL, key: PARLEY_API_KEY })
for await (const sender of parley.senders.list({ limit: 1 })) console.log('sender', sender.phone_number)

const message: Outgoing = {
  to: '16505550123',
  type: 'template',
  template: { name: 'greeting', language: 'en', variables: { 'body.1': 'Ana' } },
}
const { id } = await parley.messages.send(message, { timeoutMs: 20_000 })
const event = await delivered
console.log('delivered', event.data.message_id === id, event.data.occurred_at)

try {
  await parley.messages.get('msg_none', { signal: AbortSignal.timeout(20_000) })
} catch (error) {
  if (!(error instanceof ParleyError)) throw error
  console.log('failed', error.code, error.status)
}
console.log('others', [fastifyWebhook, fetchWebhook, honoWebhook, verifyWebhook].map((each) => typeof each).join())
process.exit(0)

function describe(event: ParleyEvent): string {
  switch (event.type) {
    case 'message.received':
      return `event ${event.data.from ?? event.data.from_user_id} ${event.data.text}`
    case 'flow.completed':
      return `event ${event.data.files.length}`
    case 'message.failed':
      return `event ${event.data.error?.code}`
    case 'message.sent':
    case 'message.delivered':
    case 'message.read':
      return `event ${event.data.status} ${event.data.to}`
    default: {
      const type: string = event.type
      return `event ${type}`
    }
  }
}
