import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Database } from '../src/db/db.ts'
import { createWebhook } from '../src/domain/webhooks/webhooks.ts'
import { createWorkspace } from '../src/domain/workspaces/workspaces.ts'
import { systemClock } from '../src/lib/clock.ts'
import { newUuid } from '../src/lib/ids.ts'
import { newApp, newSender, text, webhookOf } from './network-app.ts'
import { secretKeys } from './service.ts'

/** Settings of a service whose receivers listen on this machine. */
export const localReceivers = { PARLEY_WEBHOOK_ALLOW_HTTP: 'true', PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' }

/** A receiver that remembers when each event arrived first. */
export async function countingReceiver() {
  const arrivedMs = new Map<string, number>()
  const messagesMs = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const id = String(request.headers['service-delivery'])
    if (!arrivedMs.has(id)) arrivedMs.set(id, performance.now())
    const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data?: { wa_message_id?: string } }
    if (data?.wa_message_id) messagesMs.set(data.wa_message_id, performance.now())
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    /** By event ID. */
    arrivedMs,
    /** By the network's ID of the message. */
    messagesMs,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A workspace with one endpoint. */
export async function newTenant(db: Database, name: string, url: string) {
  const { id: workspaceId } = await createWorkspace(db, systemClock, name)
  const input = { workspaceId, name, url, events: ['message.received'] }
  const rules = { allowHttp: true, allowRanges: [], resolve: async () => [] }
  const { webhook } = await createWebhook(db, systemClock, secretKeys, rules, input)
  return { workspaceId, webhookId: webhook.id }
}

/** Sends messages to a workspace at a steady pace, and measures how long each takes to its receiver. */
export async function steadyTraffic(
  db: Database,
  serviceUrl: string,
  workspaceId: string,
  { messagesMs }: { messagesMs: ReadonlyMap<string, number> },
) {
  const everyMs = 100
  const service = { url: serviceUrl, db, clock: systemClock, secretKeys }
  const app = await newApp(service)
  const { phoneNumberId } = await newSender(service, workspaceId, app.id, '99000000002')
  const sentMs = new Map<string, number>()
  const timer = setInterval(() => {
    const id = `wamid.${newUuid()}`
    sentMs.set(id, performance.now())
    void app.post(webhookOf(phoneNumberId, [text(id)]), { url: serviceUrl }).catch(() => 0)
  }, everyMs)
  const between = (fromMs: number, toMs: number) => [...sentMs].filter(([, at]) => at >= fromMs && at < toMs)
  return {
    stop: () => clearInterval(timer),
    /** Of the messages that were sent in this time. A message that has not arrived counts with the time since. */
    latency(fromMs: number, toMs = performance.now()) {
      const took = between(fromMs, toMs)
        .map(([id, at]) => (messagesMs.get(id) ?? performance.now()) - at)
        .sort((one, other) => one - other)
      return { p99: took[Math.floor(took.length * 0.99)] ?? 0, longest: took.at(-1) ?? 0, messages: took.length }
    },
    missing: () => [...sentMs.keys()].filter((id) => !messagesMs.has(id)).length,
  }
}
