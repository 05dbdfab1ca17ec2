import { createHmac } from 'node:crypto'
import { updateEventType } from '@parley/contract/events'
import type { Database } from '../src/db/db.ts'
import { createApp } from '../src/domain/connections/apps.ts'
import type { Clock } from '../src/lib/clock.ts'
import { newUuid } from '../src/lib/ids.ts'
import { type SecretKeys, seal } from '../src/lib/seal.ts'
import type { TestServer } from './test-server.ts'

/** A service that the network posts to: a test server, or a separate process. */
export interface IngressTarget {
  url: string
  db: Database
  clock: Clock
  secretKeys: SecretKeys
}

/** An app in the network that posts webhooks to the service. */
export interface TestApp {
  id: string
  secret: string
  /** Posts a webhook as the network does. */
  post(body: unknown, options?: { signature?: string | null; url?: string }): Promise<number>
}

export async function newApp(server: IngressTarget): Promise<TestApp> {
  const secret = `secret-${newUuid()}`
  const input = { name: 'test app', appSecret: secret, verifyToken: `token-${secret}`, graphUrl: 'http://127.0.0.1:9' }
  const app = await createApp(server.db, server.clock, server.secretKeys, input)
  return {
    id: app.id,
    secret,
    async post(body, { signature, url = server.url } = {}) {
      const bytes = typeof body === 'string' ? body : JSON.stringify(body)
      const header = signature === undefined ? signatureOf(secret, bytes) : signature
      const response = await fetch(`${url}/network/whatsapp/${app.id}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(header === null ? {} : { 'x-hub-signature-256': header }) },
        body: bytes,
      })
      await response.arrayBuffer()
      return response.status
    },
  }
}

export const signatureOf = (secret: string, bytes: string): string =>
  `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`

/** A text message, as in a webhook of the network. */
export const text = (id: string, body = 'hola') => ({
  from: '16505550123',
  id,
  timestamp: '1786000000',
  type: 'text',
  text: { body },
})

/** A webhook of the network with messages that were sent to a number. */
export const webhookOf = (phoneNumberId: string, messages: readonly object[]) => {
  const value = {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550780001', phone_number_id: phoneNumberId },
    contacts: [{ profile: { name: 'Ana' }, wa_id: '16505550123' }],
    messages,
  }
  return { object: 'whatsapp_business_account', entry: [{ id: '1', changes: [{ field: 'messages', value }] }] }
}

/** Adds a number to a workspace, connected through an app. */
export async function newSender(
  server: IngressTarget,
  workspaceId: string,
  appId: string,
  phoneNumberId: string,
): Promise<{ id: string; phoneNumberId: string; wabaId: string }> {
  const connectionId = newUuid()
  const id = newUuid()
  const wabaId = String(Math.trunc(Math.random() * 1e15))
  const now = server.clock.now()
  await server.db.change(
    `insert into connections (id, workspace_id, app_id, waba_id, access_token_sealed, created_at, sync_due_at)
     values ($1, $2, $3, $4, $5, $6, 'infinity')`,
    [
      connectionId,
      workspaceId,
      appId,
      wabaId,
      seal(server.secretKeys, 'token', `connections/${connectionId}/access_token`),
      now,
    ],
  )
  await server.db.change(
    `insert into senders (id, workspace_id, connection_id, app_id, phone_number_id, phone_number, status, quality_rating,
       created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, 'CONNECTED', 'GREEN', $7, $7)`,
    [id, workspaceId, connectionId, appId, phoneNumberId, `1555${phoneNumberId.slice(-7)}`, now],
  )
  return { id, phoneNumberId, wabaId }
}

export interface StoredEvent {
  id: string
  type: string
  created_at: string
  data: Record<string, unknown>
}

/** The events of a workspace, parsed from the payload that endpoints receive. As in the API, without network updates. */
export async function eventsOf(server: TestServer, workspaceId: string): Promise<StoredEvent[]> {
  return (await storedEvents(server, workspaceId)).filter(({ type }) => type !== updateEventType)
}

export async function updateEventsOf(server: TestServer, workspaceId: string): Promise<StoredEvent[]> {
  return (await storedEvents(server, workspaceId)).filter(({ type }) => type === updateEventType)
}

async function storedEvents(server: TestServer, workspaceId: string): Promise<StoredEvent[]> {
  const rows = await server.db.rows<{ body: Buffer }>(
    'select body from events where workspace_id = $1 order by created_at, id',
    [workspaceId],
  )
  return rows.map(({ body }) => JSON.parse(body.toString()) as StoredEvent)
}
