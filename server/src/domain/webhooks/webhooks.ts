import { randomBytes } from 'node:crypto'
import { eventTypes } from '@parley/contract/events'
import type { FieldError, FieldErrorCode } from '@parley/contract/field-errors'
import type { Webhook } from '@parley/contract/webhook'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { textErrors } from '../../lib/field-errors.ts'
import { newUuid, withoutPrefix, withPrefix } from '../../lib/ids.ts'
import { refuse, refuseIfAny, refuseInvalid } from '../../lib/refuse.ts'
import { type SecretKeys, seal } from '../../lib/seal.ts'
import { type TargetRules, targetProblem } from '../../lib/target-guard.ts'
import { deleteEndpoint, disableEndpoint, enableEndpoint } from '../deliveries/engine/hold.ts'
import { secretPrefix } from '../deliveries/engine/signature.ts'
import { webhookSecretContext } from '../deliveries/engine/targets.ts'
import { requireWorkspace } from '../workspaces/workspaces.ts'
import { insertWebhook, updateSecret, updateWebhook, type WebhookRow, webhookById, webhooksOf } from './webhooks.sql.ts'

export { countWebhooks, failingWebhooks } from './webhooks.sql.ts'

/** An endpoint, and whose it is. */
export interface OwnedWebhook {
  uuid: string
  workspaceId: string
  webhook: Webhook
}

/** Every endpoint of a workspace, the newest first. */
export async function listWebhooks(db: Db, workspaceId: string): Promise<Webhook[]> {
  return (await webhooksOf(db, workspaceId)).map(toWebhook)
}

export { anyDelivered } from './webhooks.sql.ts'

/** Those of every workspace. */
export async function listAllWebhooks(db: Db): Promise<OwnedWebhook[]> {
  return (await webhooksOf(db, null)).map(toOwned)
}

export interface WebhookInput {
  workspaceId: string
  name: string
  url: string
  events: readonly string[]
}

/** Makes an endpoint. Its signing secret is in the answer and is never shown again; it is kept sealed. */
export const createWebhook = async (
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  rules: TargetRules,
  input: WebhookInput,
): Promise<{ webhook: Webhook; secret: string }> =>
  saveNewWebhook(db, clock, keys, input.workspaceId, await checkInput(rules, input))

/** The half of it that does not ask the network. */
export async function saveNewWebhook(
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  workspaceId: string,
  { name, url, events }: CheckedInput,
): Promise<{ webhook: Webhook; secret: string }> {
  await requireWorkspace(db, workspaceId)
  const id = newUuid(clock.now().getTime())
  const { secret, secretHint, secretSealed } = newSecret(keys, id)
  await insertWebhook(db, { id, workspaceId, name, url, secretSealed, secretHint, events, createdAt: clock.now() })
  db.notify(workspaceId, 'webhooks')
  return { webhook: toWebhook(found(await webhookById(db, id))), secret }
}

/** Changes what is given. */
export async function changeWebhook(
  db: Db,
  rules: TargetRules,
  id: string,
  input: Partial<Omit<WebhookInput, 'workspaceId'>>,
): Promise<Webhook> {
  const { uuid, webhook } = await requireWebhook(db, id)
  const { name, url, events } = webhook
  return saveWebhook(db, uuid, await checkInput(rules, { name, url, events, ...input }))
}

/** The half of it that does not ask the network. */
export async function saveWebhook(db: Db, uuid: string, checked: CheckedInput): Promise<Webhook> {
  const row = found(await updateWebhook(db, uuid, checked))
  db.notify(row.workspace_id, 'webhooks')
  return toWebhook(row)
}

/** Gives an endpoint a new secret. The old one is dead: the next attempt is signed with the new one alone. */
export async function rotateWebhook(
  db: Db,
  keys: SecretKeys,
  id: string,
): Promise<{ webhook: Webhook; secret: string }> {
  const uuid = withoutPrefix('whk', id) ?? refuse('not_found')
  const { secret, secretHint, secretSealed } = newSecret(keys, uuid)
  const row = found(await updateSecret(db, uuid, secretSealed, secretHint))
  db.notify(row.workspace_id, 'webhooks')
  return { webhook: toWebhook(row), secret }
}

/** Whoever names a workspace sees no endpoint but its own. */
export async function requireWebhook(db: Db, id: string, workspaceId?: string): Promise<OwnedWebhook> {
  const uuid = withoutPrefix('whk', id)
  const row = found(uuid === undefined ? undefined : await webhookById(db, uuid))
  return workspaceId === undefined || row.workspace_id === workspaceId ? toOwned(row) : refuse('not_found')
}

/** Makes the held deliveries of the endpoint due, and lets new events through. */
export async function enableWebhook(db: Db, clock: Clock, id: string, within?: string): Promise<Webhook> {
  const { uuid, workspaceId } = await requireWebhook(db, id, within)
  await enableEndpoint(db, workspaceId, uuid, clock.now())
  return (await requireWebhook(db, id)).webhook
}

/** Holds the deliveries of the endpoint until it is enabled. */
export async function disableWebhook(db: Db, id: string, reason: string, within?: string): Promise<Webhook> {
  const { uuid, workspaceId } = await requireWebhook(db, id, within)
  const trimmed = reason.trim()
  refuseIfAny(textErrors('reason', trimmed, 500))
  await disableEndpoint(db, workspaceId, uuid, trimmed)
  return (await requireWebhook(db, id)).webhook
}

export async function deleteWebhook(db: Db, clock: Clock, id: string, within?: string): Promise<void> {
  const { uuid, workspaceId } = await requireWebhook(db, id, within)
  await deleteEndpoint(db, workspaceId, uuid, clock.now())
}

/** `whsec_<4 chars>...<4 chars>` */
export function hintOf(secret: string): string {
  const random = secret.slice(secretPrefix.length)
  return `${secretPrefix}${random.slice(0, 4)}...${random.slice(-4)}`
}

function newSecret(keys: SecretKeys, id: string) {
  const secret = secretPrefix + randomBytes(32).toString('base64')
  return { secret, secretHint: hintOf(secret), secretSealed: seal(keys, secret, webhookSecretContext(id)) }
}

const found = (row: WebhookRow | undefined): WebhookRow => row ?? refuse('not_found')

export type CheckedInput = Omit<WebhookInput, 'workspaceId'>

/** Finds every fault; asks the network where the URL leads, so no transaction should be open. */
export async function checkInput(rules: TargetRules, input: CheckedInput): Promise<CheckedInput> {
  const name = input.name.trim()
  const faults: FieldError[] = textErrors('name', name, 100)
  const fault = (param: string, code: FieldErrorCode, message: string) => faults.push({ param, code, message })
  const url = URL.canParse(input.url) ? new URL(input.url) : null
  if (!url) fault('url', 'invalid', 'The URL must be of the form https://host/path.')
  else if (input.url.length > 2000) faults.push(...textErrors('url', input.url, 2000))
  else {
    // What is behind the # is for browsers; it would never be sent.
    url.hash = ''
    const why = await targetProblem(rules, url)
    if (why) fault('url', 'invalid', why)
  }
  if (input.events.length === 0) fault('events', 'too_few', `Choose at least one event of ${eventTypes.join(', ')}.`)
  for (const event of input.events) {
    if (!(eventTypes as readonly string[]).includes(event)) {
      fault('events', 'invalid', `"${event}" is not an event; the events are ${eventTypes.join(', ')}.`)
    }
  }
  if (faults.length > 0 || !url) refuseInvalid(faults)
  return { name, url: url.href, events: eventTypes.filter((event) => input.events.includes(event)) }
}

const toOwned = (row: WebhookRow): OwnedWebhook => ({
  uuid: row.id,
  workspaceId: row.workspace_id,
  webhook: toWebhook(row),
})

export const toWebhook = (row: WebhookRow): Webhook => ({
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
