/** Creating, reading, changing and deleting endpoints. */
import type { Webhook } from '@parley/contract/webhook'
import type { Db } from '../../db/db.ts'
import { changesOf } from '../../lib/changes.ts'
import type { Clock } from '../../lib/clock.ts'
import { newUuid, withoutPrefix, withPrefix } from '../../lib/ids.ts'
import { refuse, refuseIfAny, refuseParam } from '../../lib/refuse.ts'
import type { SecretKeys } from '../../lib/seal.ts'
import { textErrors } from '../../lib/text-errors.ts'
import type { TargetRules } from '../../net/target-guard.ts'
import { changeEndpoint } from '../deliveries/engine/attempt/change-endpoint.ts'
import { deleteEndpoint, disableEndpoint, enableEndpoint, endOrder } from '../deliveries/engine/hold/hold.ts'
import { endpointsMax, requireWorkspace } from '../workspaces/workspaces.ts'
import { type CheckedInput, checkInput, toUuids, type WebhookInput } from './check-input.ts'
import { sealHeaders } from './headers.ts'
import { newSecret } from './secret.ts'
import {
  countWebhooksOf,
  headersSealedOf,
  insertWebhook,
  type Settings,
  sendersAmong,
  updateWebhook,
  type WebhookRow,
  webhookById,
  webhooksOf,
} from './webhooks.sql.ts'

export { anyDelivered, countWebhooks, countWebhooksOf, failingWebhooks, webhooksOf } from './webhooks.sql.ts'

/** An endpoint with its UUID and its workspace. */
export interface OwnedWebhook {
  uuid: string
  workspaceId: string
  webhook: Webhook
  /** Set during a staged rotation. */
  stagedSecretHint: string | null
}

/** All endpoints of a workspace, newest first. */
export const listWebhooks = async (db: Db, workspaceId: string): Promise<Webhook[]> =>
  (await webhooksOf(db, workspaceId)).map(toWebhook)

/** The endpoints of all workspaces. */
export const listAllWebhooks = async (db: Db): Promise<OwnedWebhook[]> => (await webhooksOf(db, null)).map(toOwned)

/** Creates an endpoint. The signing secret is returned here only; it is stored encrypted. */
export const createWebhook = async (
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  rules: TargetRules,
  input: WebhookInput,
): Promise<{ webhook: Webhook; secret: string }> =>
  saveNewWebhook(db, clock, keys, input.workspaceId, await checkInput(rules, input, input.workspaceId))

/** The part of `createWebhook` that may run in a transaction: it makes no DNS lookups. */
export async function saveNewWebhook(
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  workspaceId: string,
  { headers = [], ...checked }: CheckedInput,
): Promise<{ webhook: Webhook; secret: string }> {
  await requireWorkspace(db, workspaceId)
  const id = newUuid(clock.now().getTime())
  const { secret, secretHint, secretSealed } = newSecret(keys, id)
  return db.transaction(async (tx) => {
    await refuseAtLimit(tx, workspaceId)
    await refuseUnknownSenders(tx, workspaceId, checked.senders)
    const sealed = { secretSealed, secretHint, ...sealHeaders(() => keys, id, headers, null) }
    await insertWebhook(tx, { id, workspaceId, ...checked, ...sealed, createdAt: clock.now() })
    tx.notify(workspaceId, 'webhooks')
    return { webhook: toWebhook(requireRow(await webhookById(tx, id))), secret }
  })
}

/** Every event is delivered to every endpoint, so without a limit one workspace could occupy the deliveries of all. */
async function refuseAtLimit(tx: Db, workspaceId: string): Promise<void> {
  const max = await endpointsMax(tx, workspaceId)
  if ((await countWebhooksOf(tx, workspaceId)) < max) return
  const message = `This workspace has reached its limit of ${max} webhooks. Delete one, or ask the operator to raise the limit with "parley workspace limit".`
  refuseParam('webhooks', 'too_many', message)
}

/** Validates the given fields as `checkInput` does. The others stay as they are. */
export const checkChange = (
  rules: TargetRules,
  { webhook, workspaceId }: OwnedWebhook,
  input: Partial<Omit<WebhookInput, 'workspaceId'>>,
): Promise<CheckedInput> => {
  const { name, url, events, senders, ordering, headers } = webhook
  return checkInput(rules, { name, url, events, senders, ordering, ...input }, workspaceId, headers)
}

/**
 * Saves checked settings. It makes no DNS lookups, so it may run in a transaction. Refused if someone changed the
 * endpoint after `before` was read: their change would be undone, and a URL could return that no one confirmed.
 */
export const saveWebhook = (
  db: Db,
  clock: Clock,
  keys: () => SecretKeys,
  { uuid, workspaceId, webhook }: OwnedWebhook,
  { headers, ...checked }: CheckedInput,
): Promise<Webhook> =>
  changeEndpoint(db, async (tx) => {
    const current = toUuids(webhook.senders)
    // A sender that was chosen before may be gone by now.
    await refuseUnknownSenders(tx, workspaceId, checked.senders?.filter((id) => !current?.includes(id)) ?? null)
    const headersSealed = await headersSealedOf(tx, uuid)
    const before: Settings = {
      ...webhook,
      senders: current,
      headerNames: webhook.headers.length === 0 ? null : webhook.headers,
      headersSealed,
    }
    const { headerNames } = before
    const sealed = headers ? sealHeaders(keys, uuid, headers, headersSealed) : { headerNames, headersSealed }
    const row = await updateWebhook(tx, uuid, before, { ...checked, ...sealed })
    if (!row) {
      await requireWebhook(tx, webhook.id)
      return refuse('conflict', { message: 'Someone else changed this webhook just now. Load it again.' })
    }
    if (before.ordering !== 'none' && row.ordering === 'none') await endOrder(tx, workspaceId, uuid, clock.now())
    tx.notify(workspaceId, 'webhooks')
    return toWebhook(row)
  })

async function refuseUnknownSenders(db: Db, workspaceId: string, senders: readonly string[] | null): Promise<void> {
  if (senders === null) return
  const known = await sendersAmong(db, workspaceId, senders)
  const unknown = senders.filter((id) => !known.includes(id)).map((id) => withPrefix('snd', id))
  if (unknown.length > 0) refuseParam('senders', 'not_found', `No sender of this workspace has the ID ${unknown[0]}.`)
}

/** If `workspaceId` is given, the endpoint must belong to that workspace. */
export async function requireWebhook(db: Db, id: string, workspaceId?: string): Promise<OwnedWebhook> {
  const uuid = withoutPrefix('whk', id)
  const row = requireRow(uuid === undefined ? undefined : await webhookById(db, uuid))
  return workspaceId === undefined || row.workspace_id === workspaceId ? toOwned(row) : refuse('not_found')
}

/** Enables an endpoint and makes its held deliveries due. */
export async function enableWebhook(db: Db, clock: Clock, id: string, within?: string): Promise<Webhook> {
  const { uuid, workspaceId } = await requireWebhook(db, id, within)
  await enableEndpoint(db, workspaceId, uuid, clock.now())
  return (await requireWebhook(db, id)).webhook
}

/** Disables an endpoint. Its deliveries are held until it is enabled. */
export async function disableWebhook(
  db: Db,
  clock: Clock,
  id: string,
  reason: string,
  within?: string,
): Promise<Webhook> {
  const { uuid, workspaceId } = await requireWebhook(db, id, within)
  const trimmed = reason.trim()
  refuseIfAny(textErrors('reason', trimmed, 500))
  await changeEndpoint(db, (tx) => disableEndpoint(tx, workspaceId, uuid, trimmed, clock.now()))
  return (await requireWebhook(db, id)).webhook
}

export async function deleteWebhook(db: Db, clock: Clock, id: string, within?: string): Promise<void> {
  const { uuid, workspaceId } = await requireWebhook(db, id, within)
  await changeEndpoint(db, (tx) => deleteEndpoint(tx, workspaceId, uuid, clock.now()))
}

export const requireRow = (row: WebhookRow | undefined): WebhookRow => row ?? refuse('not_found')

const toOwned = (row: WebhookRow): OwnedWebhook => ({
  uuid: row.id,
  workspaceId: row.workspace_id,
  webhook: toWebhook(row),
  stagedSecretHint: row.staged_secret_hint,
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
  senders: row.senders?.map((id) => withPrefix('snd', id)) ?? null,
  ordering: row.ordering,
  headers: row.header_names ?? [],
})

/** An endpoint as the target of an audit entry. */
export const named = ({ id, name }: Pick<Webhook, 'id' | 'name'>) => ({ target: id, targetName: name })

/** That an endpoint was enabled or disabled, for the audit log. */
export const changedState = (before: Webhook, after: Webhook) => ({
  ...named(before),
  before: stateOf(before),
  after: stateOf(after),
})

const stateOf = ({ enabled, disabled_reason }: Webhook) => ({ enabled, disabled_reason })

/** The changed settings, for the audit log. Headers by name only, even if their value changed. */
export function settingsChanges(before: Webhook, after: Webhook, { headers = [] }: CheckedInput) {
  const changes = changesOf(settingsOf(before), settingsOf(after))
  const entered = headers.flatMap(({ name, value }) => (value === null ? [] : [name]))
  return entered.length === 0 ? changes : { ...changes, after: { ...changes.after, header_values_of: entered } }
}

/** The settings of an endpoint, for the audit log. */
export const settingsOf = ({ name, url, events, senders, ordering, headers }: Webhook) => ({
  name,
  url,
  events,
  senders,
  ordering,
  headers,
})
