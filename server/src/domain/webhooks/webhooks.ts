import { randomBytes } from 'node:crypto'
import { eventTypes } from '@parley/contract/events'
import type { Webhook } from '@parley/contract/webhook'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { newUuid, withPrefix } from '../../lib/ids.ts'
import { invalid } from '../../lib/refuse.ts'
import { type SecretKeys, seal } from '../../lib/seal.ts'
import { requireWorkspace } from '../workspaces/workspaces.ts'
import { insertWebhook, type WebhookRow, webhooksOf } from './webhooks.sql.ts'

const secretPrefix = 'whsec_'

/** Every endpoint of a workspace, the newest first. */
export async function listWebhooks(db: Db, workspaceId: string): Promise<Webhook[]> {
  return (await webhooksOf(db, workspaceId)).map(toWebhook)
}

export interface WebhookWish {
  workspaceId: string
  name: string
  url: string
  events: readonly string[]
}

/** Makes an endpoint. Its signing secret is in the answer and is never shown again; it is kept sealed. */
export async function createWebhook(
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  wish: WebhookWish,
): Promise<{ webhook: Webhook; secret: string }> {
  const { name, url, events } = checkWish(wish)
  await requireWorkspace(db, wish.workspaceId)
  const id = newUuid(clock.now().getTime())
  const secret = secretPrefix + randomBytes(32).toString('base64')
  const secretHint = hintOf(secret)
  const secretSealed = seal(keys, secret, `webhooks/${id}`)
  await insertWebhook(db, {
    id,
    workspaceId: wish.workspaceId,
    name,
    url,
    secretSealed,
    secretHint,
    events,
    createdAt: clock.now(),
  })
  const row = { id, name, url, secret_hint: secretHint, events, enabled: true, disabled_reason: null }
  return { webhook: toWebhook({ ...row, last_success_at: null }), secret }
}

/** `whsec_<4 chars>...<4 chars>` */
export function hintOf(secret: string): string {
  const random = secret.slice(secretPrefix.length)
  return `${secretPrefix}${random.slice(0, 4)}...${random.slice(-4)}`
}

function checkWish(wish: WebhookWish): { name: string; url: string; events: string[] } {
  const faults: { param: string; code: string; message: string }[] = []
  const fault = (param: string, message: string) => faults.push({ param, code: 'invalid', message })
  const name = wish.name.trim()
  if (name.length < 1 || name.length > 100) fault('name', 'The name must have 1 to 100 characters.')
  const url = URL.canParse(wish.url) ? new URL(wish.url) : null
  if (!url || !/^https?:$/.test(url.protocol)) fault('url', 'The URL must be of the form https://host/path.')
  else if (url.username || url.password) fault('url', 'The URL must not hold a user name or password.')
  else if (wish.url.length > 2000) fault('url', 'The URL may have at most 2000 characters.')
  if (wish.events.length === 0) fault('events', `Choose at least one event of ${eventTypes.join(', ')}.`)
  for (const event of wish.events) {
    if (!(eventTypes as readonly string[]).includes(event)) {
      fault('events', `"${event}" is not an event; the events are ${eventTypes.join(', ')}.`)
    }
  }
  if (faults.length > 0 || !url) throw invalid(faults)
  return { name, url: url.href, events: eventTypes.filter((event) => wish.events.includes(event)) }
}

const toWebhook = (row: WebhookRow): Webhook => ({
  id: withPrefix('whk', row.id),
  object: 'webhook',
  name: row.name,
  url: row.url,
  secret_hint: row.secret_hint,
  events: row.events,
  enabled: row.enabled,
  disabled_reason: row.disabled_reason,
  last_success_at: row.last_success_at?.toISOString() ?? null,
})
