import { createHmac } from 'node:crypto'
import { type Config, readConfig } from '@parley/server/config'
import { openStore } from '@parley/server/db/store'
import { createApp } from '@parley/server/domain/connections/apps'
import { createWebhook } from '@parley/server/domain/webhooks/webhooks'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import { newUuid } from '@parley/server/lib/ids'
import { newLogger } from '@parley/server/lib/logger'

export const appSecret = 'bench-app-secret'

/** The ID of the phone number for the endpoint with this index. */
export const numberAt = (index: number): string => `9000000000${String(index).padStart(4, '0')}`

/** A signed webhook of WhatsApp with `size` messages for one phone number. The text of each message has its own number. */
export function webhookOf(appId: string, first: number, size: number, phoneNumberId = numberAt(0)): Buffer {
  const messages = Array.from({ length: size }, (_, index) => ({
    from: '16505550123',
    id: `wamid.${newUuid()}`,
    timestamp: String(Math.trunc(Date.now() / 1000)),
    type: 'text',
    text: { body: `Hello there, number:${first + index};` },
  }))
  return postOf(appId, phoneNumberId, { contacts: [{ profile: { name: 'Ana' }, wa_id: '16505550123' }], messages })
}

/** A signed webhook of WhatsApp with updates for one phone number. */
export function postOf(appId: string, phoneNumberId: string, updates: object): Buffer {
  const metadata = { display_phone_number: '15550780001', phone_number_id: phoneNumberId }
  const value = { messaging_product: 'whatsapp', metadata, ...updates }
  const changes = [{ field: 'messages', value }]
  const body = JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: '1', changes }] })
  const signature = createHmac('sha256', appSecret).update(body).digest('hex')
  return Buffer.from(
    `POST /network/whatsapp/${appId} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Hub-Signature-256: sha256=${signature}\r\n\r\n${body}`,
  )
}

/** Creates a workspace with one phone number and one endpoint for each URL. Returns the ID of the app. */
export async function prepare(
  dataDir: string,
  hookUrls: readonly string[],
  events: readonly string[] = ['message.received'],
): Promise<string> {
  const { appId } = await prepareAt(readConfig({ PARLEY_DATA_DIR: dataDir }), hookUrls, { events })
  return appId
}

/** The same for any installation. Also returns the secrets of the endpoints. */
export async function prepareAt(
  config: Config,
  hookUrls: readonly string[],
  {
    secret = appSecret,
    phoneNumberId = numberAt,
    events = ['message.received'],
  }: { secret?: string; phoneNumberId?: (index: number) => string; events?: readonly string[] } = {},
): Promise<{ appId: string; hookSecrets: string[] }> {
  const store = await openStore(config, { purpose: 'visitor', schema: 'migrate', log: newLogger('silent') })
  try {
    const { db } = store
    const now = systemClock.now()
    const input = { name: 'bench', appSecret: secret, verifyToken: 'bench', graphUrl: 'http://127.0.0.1:9' }
    const app = await createApp(db, systemClock, config.secretKeys(), input)
    const hookSecrets: string[] = []
    for (const [index, url] of hookUrls.entries()) {
      const { id: workspaceId } = await createWorkspace(db, systemClock, `bench ${index}`)
      const endpoint = { workspaceId, name: 'bench', url, events: [...events] }
      const created = await createWebhook(db, systemClock, config.secretKeys(), config.targetRules, endpoint)
      hookSecrets.push(created.secret)
      const connectionId = newUuid()
      await db.change(
        `insert into connections (id, workspace_id, app_id, waba_id, access_token_sealed, created_at, sync_due_at)
         values ($1, $2, $3, $4, 'none', $5, 'infinity')`,
        [connectionId, workspaceId, app.id, String(index), now],
      )
      await db.change(
        `insert into senders (id, workspace_id, connection_id, app_id, phone_number_id, phone_number, status,
           quality_rating, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $5, 'CONNECTED', 'GREEN', $6, $6)`,
        [newUuid(), workspaceId, connectionId, app.id, phoneNumberId(index), now],
      )
    }
    return { appId: app.id, hookSecrets }
  } finally {
    await store.close()
  }
}
