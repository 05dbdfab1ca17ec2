import { createHmac } from 'node:crypto'
import { type Config, readConfig } from '@parley/server/config'
import type { Db } from '@parley/server/db/db'
import { openStore } from '@parley/server/db/store'
import { createApp } from '@parley/server/domain/connections/apps'
import { giveCredits } from '@parley/server/domain/credits/credits'
import { createKey } from '@parley/server/domain/keys/keys'
import { createWebhook } from '@parley/server/domain/webhooks/webhooks'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import { newUuid } from '@parley/server/lib/ids'
import { seal } from '@parley/server/lib/seal'
import { newLogger } from '@parley/server/telemetry/logger'

export const appSecret = 'bench-app-secret'
/** What each workspace with keys gets. */
export const grantedCredits = 1_000_000_000

/** The ID of the phone number of the workspace with this index. */
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

/** As many messages as asked for, `size` in each webhook, for the phone numbers in turn. */
export const webhooksOf = (appId: string, events: number, size: number, numbers = 1): Buffer[] =>
  Array.from({ length: Math.ceil(events / size) }, (_, index) =>
    webhookOf(appId, index * size, Math.min(size, events - index * size), numberAt(index % numbers)),
  )

/** The body of `POST /v1/messages` with a text message that contains its number. */
export function sendBody(number: number): string {
  const text = { body: `Your parcel has arrived, number:${number};` }
  return JSON.stringify({ to: String(16_505_550_000 + number), type: 'text', text })
}

export function sendRequest(secret: string, number: number): Buffer {
  const body = sendBody(number)
  return Buffer.from(
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

export interface Preparation {
  /** One workspace for each, with one phone number. Null for a workspace without an endpoint. */
  hookUrls: readonly (string | null)[]
  /** What the endpoints subscribe to. */
  events?: readonly string[]
  keysEach?: number
  /** The network that messages are sent to. */
  graphUrl?: string
  secret?: string
  phoneNumberId?: (index: number) => string
}

interface PreparedWorkspace {
  id: string
  senderId: string
  webhookId: string
  /** The signing secret of its endpoint. */
  hookSecret: string
  keys: { id: string; secret: string }[]
}

export interface Prepared {
  appId: string
  workspaces: PreparedWorkspace[]
}

/** Prepares an installation with an embedded database. */
export const prepare = (dataDir: string, preparation: Preparation): Promise<Prepared> =>
  prepareAt(readConfig({ PARLEY_DATA_DIR: dataDir }), preparation)

export async function prepareAt(config: Config, preparation: Preparation): Promise<Prepared> {
  const { hookUrls, secret = appSecret, graphUrl = 'http://127.0.0.1:9' } = preparation
  const store = await openStore(config, { purpose: 'visitor', schema: 'migrate', log: newLogger('silent') })
  try {
    const input = { name: 'bench', appSecret: secret, verifyToken: 'bench', graphUrl }
    const { id: appId } = await createApp(store.db, systemClock, config.secretKeys(), input)
    const workspaces: PreparedWorkspace[] = []
    for (const index of hookUrls.keys()) {
      const create = (tx: Db) => prepareWorkspace(tx, config, preparation, appId, index)
      workspaces.push(await store.db.transaction(create))
    }
    return { appId, workspaces }
  } finally {
    await store.close()
  }
}

async function prepareWorkspace(
  db: Db,
  config: Config,
  { hookUrls, events = ['message.received'], keysEach = 0, phoneNumberId = numberAt }: Preparation,
  appId: string,
  index: number,
): Promise<PreparedWorkspace> {
  const { id } = await createWorkspace(db, systemClock, `bench ${index}`)
  const url = hookUrls[index] ?? null
  const endpoint = { workspaceId: id, name: 'bench', url: url ?? '', events: [...events] }
  const created =
    url === null ? null : await createWebhook(db, systemClock, config.secretKeys(), config.targetRules, endpoint)
  const [connectionId, senderId, now] = [newUuid(), newUuid(), systemClock.now()]
  const token = seal(config.secretKeys(), 'token', `connections/${connectionId}/access_token`)
  await db.change(
    `insert into connections (id, workspace_id, app_id, waba_id, access_token_sealed, created_at, sync_due_at)
     values ($1, $2, $3, $4, $5, $6, 'infinity')`,
    [connectionId, id, appId, String(index), token, now],
  )
  await db.change(
    `insert into senders (id, workspace_id, connection_id, app_id, phone_number_id, phone_number, status,
       quality_rating, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $5, 'CONNECTED', 'GREEN', $6, $6)`,
    [senderId, id, connectionId, appId, phoneNumberId(index), now],
  )
  if (keysEach > 0) await giveCredits(db, systemClock, id, grantedCredits, 'bench')
  const keys: PreparedWorkspace['keys'] = []
  for (let number = 0; number < keysEach; number++) {
    const scopes = ['messages:send', 'messages:read']
    const key = { workspaceId: id, name: `bench ${number}`, scopes, rateLimitPerMin: 100, createdBy: 'bench' }
    const { key: made, secret } = await createKey(db, systemClock, key)
    keys.push({ id: made.id, secret })
  }
  const webhookId = created?.webhook.id.replace('whk_', '') ?? ''
  return { id, senderId, webhookId, hookSecret: created?.secret ?? '', keys }
}

/** The keys of all workspaces, those of different workspaces in turn, so that every part of the list has keys of all. */
export const keysInTurn = ({ workspaces }: Prepared): string[] =>
  Array.from({ length: workspaces[0]?.keys.length ?? 0 }, (_, key) =>
    workspaces.map(({ keys }) => keys[key]?.secret ?? ''),
  ).flat()
