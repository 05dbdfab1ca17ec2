import { randomBytes } from 'node:crypto'
import { filterSendersMax, type HeaderInput } from '@parley/contract/console/webhooks'
import { eventTypes } from '@parley/contract/events'
import type { FieldError, FieldErrorCode } from '@parley/contract/field-errors'
import { type Ordering, orderings, type Webhook } from '@parley/contract/webhook'
import type { Db } from '../../db/db.ts'
import { changesOf } from '../../lib/changes.ts'
import type { Clock } from '../../lib/clock.ts'
import { textErrors } from '../../lib/field-errors.ts'
import { newUuid, withoutPrefix, withPrefix } from '../../lib/ids.ts'
import { refuse, refuseIfAny, refuseInvalid, refuseParam } from '../../lib/refuse.ts'
import { open, type SecretKeys, seal } from '../../lib/seal.ts'
import { type TargetRules, targetProblem } from '../../lib/target-guard.ts'
import { deleteEndpoint, disableEndpoint, enableEndpoint, endOrder } from '../deliveries/engine/hold.ts'
import { secretPrefix } from '../deliveries/engine/signature.ts'
import { type Header, webhookHeadersContext, webhookSecretContext } from '../deliveries/engine/targets.ts'
import { makeDueFailedSince } from '../deliveries/retry.ts'
import { endpointsMax, requireWorkspace } from '../workspaces/workspaces.ts'
import { headerErrors, toHeaders } from './headers.ts'
import {
  activateStagedSecret,
  countWebhooksOf,
  headersSealedOf,
  insertWebhook,
  type Settings,
  sendersAmong,
  updateSecret,
  updateStagedSecret,
  updateWebhook,
  type WebhookRow,
  webhookById,
  webhooksOf,
} from './webhooks.sql.ts'

export { countWebhooks, failingWebhooks } from './webhooks.sql.ts'

/** An endpoint with its UUID and its workspace. */
export interface OwnedWebhook {
  uuid: string
  workspaceId: string
  webhook: Webhook
  /** Set during a staged rotation. */
  stagedSecretHint: string | null
}

/** All endpoints of a workspace, newest first. */
export async function listWebhooks(db: Db, workspaceId: string): Promise<Webhook[]> {
  return (await webhooksOf(db, workspaceId)).map(toWebhook)
}

export { anyDelivered } from './webhooks.sql.ts'

/** The endpoints of all workspaces. */
export async function listAllWebhooks(db: Db): Promise<OwnedWebhook[]> {
  return (await webhooksOf(db, null)).map(toOwned)
}

export interface WebhookInput {
  workspaceId: string
  name: string
  url: string
  events: readonly string[]
  /** Only events of these senders; null or absent: of all. */
  senders?: readonly string[] | null
  ordering?: Ordering
  /** All headers of its own. Absent: they stay as they are. */
  headers?: readonly HeaderInput[]
}

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

/** Changes the given fields. */
export async function changeWebhook(
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  rules: TargetRules,
  id: string,
  input: Partial<Omit<WebhookInput, 'workspaceId'>>,
): Promise<Webhook> {
  const before = await requireWebhook(db, id)
  return saveWebhook(db, clock, () => keys, before, await checkChange(rules, before, input))
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
 * The part of `changeWebhook` that may run in a transaction: it makes no DNS lookups. Refused if someone changed the
 * endpoint after `before` was read: their change would be undone, and a URL could return that no one confirmed.
 */
export const saveWebhook = (
  db: Db,
  clock: Clock,
  keys: () => SecretKeys,
  { uuid, workspaceId, webhook }: OwnedWebhook,
  { headers, ...checked }: CheckedInput,
): Promise<Webhook> =>
  db.transaction(async (tx) => {
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
  if (unknown.length > 0) refuseParam('senders', 'unknown', `No sender of this workspace has the ID ${unknown[0]}.`)
}

/** Encrypts headers. A value of null is taken from the current ones. */
function sealHeaders(
  keys: () => SecretKeys,
  id: string,
  headers: readonly HeaderInput[],
  currentSealed: string | null,
): Pick<Settings, 'headerNames' | 'headersSealed'> {
  if (headers.length === 0) return { headerNames: null, headersSealed: null }
  const kept = headers.some(({ value }) => value === null) ? openHeaders(keys(), id, currentSealed) : []
  const text = JSON.stringify(
    headers.map(({ name, value }): Header => {
      const current = value ?? kept.find(([keptName]) => keptName === name)?.[1]
      return [name, current ?? refuseParam('headers', 'missing', `Enter a value for the header "${name}".`)]
    }),
  )
  const headersSealed = seal(keys(), text, webhookHeadersContext(id))
  return { headerNames: headers.map(({ name }) => name), headersSealed }
}

/** Empty if they cannot be decrypted: then their values have to be entered again. */
function openHeaders(keys: SecretKeys, id: string, sealed: string | null): Header[] {
  if (sealed === null) return []
  try {
    return JSON.parse(open(keys, sealed, webhookHeadersContext(id))) as Header[]
  } catch {
    return []
  }
}

const toUuids = (senders: readonly string[] | null): string[] | null =>
  senders?.flatMap((id) => withoutPrefix('snd', id) ?? []) ?? null

/** A rotation makes due what failed within this time before it. */
const refusedWithinMs = 3_600_000

/**
 * Replaces the secret of an endpoint. The old one stops working immediately: the next attempt uses only the new one.
 * Deliveries that failed within the last hour are due immediately.
 */
export async function rotateWebhook(
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  id: string,
): Promise<{ webhook: Webhook; secret: string }> {
  const uuid = withoutPrefix('whk', id) ?? refuse('not_found')
  const { secret, ...sealed } = newSecret(keys, uuid)
  const webhook = await changeSecret(db, clock, (tx, now) => updateSecret(tx, uuid, sealed, now))
  return { webhook, secret }
}

/** Creates a secret that signs in addition to the current one, until it is activated. */
export async function stageRotation(
  db: Db,
  keys: SecretKeys,
  id: string,
): Promise<{ webhook: Webhook; secret: string; stagedSecretHint: string }> {
  const uuid = withoutPrefix('whk', id) ?? refuse('not_found')
  const { secret, ...sealed } = newSecret(keys, uuid)
  const row = requireRow(await updateStagedSecret(db, uuid, sealed))
  db.notify(row.workspace_id, 'webhooks')
  return { webhook: toWebhook(row), secret, stagedSecretHint: sealed.secretHint }
}

/** Ends the old secret of a staged rotation. Deliveries that failed within the last hour are due immediately. */
export async function activateSecret(db: Db, clock: Clock, id: string, within?: string): Promise<Webhook> {
  const { uuid } = await requireStaged(db, id, within)
  return changeSecret(db, clock, (tx, now) => activateStagedSecret(tx, uuid, now))
}

/** Ends a staged rotation: the new secret is dropped, the old one stays. */
export async function cancelRotation(db: Db, id: string, within?: string): Promise<Webhook> {
  const { uuid } = await requireStaged(db, id, within)
  const row = requireRow(await updateStagedSecret(db, uuid, null))
  db.notify(row.workspace_id, 'webhooks')
  return toWebhook(row)
}

const changeSecret = (
  db: Db,
  clock: Clock,
  change: (tx: Db, now: Date) => Promise<WebhookRow | undefined>,
): Promise<Webhook> =>
  db.transaction(async (tx) => {
    const now = clock.now()
    const row = requireRow(await change(tx, now))
    const { id: webhookId, workspace_id: workspaceId } = row
    const since = new Date(now.getTime() - refusedWithinMs)
    await makeDueFailedSince(tx, { webhookId, workspaceId }, since, now)
    tx.notify(row.workspace_id, 'webhooks')
    return toWebhook(row)
  })

async function requireStaged(db: Db, id: string, within?: string): Promise<{ uuid: string }> {
  const { uuid, stagedSecretHint } = await requireWebhook(db, id, within)
  if (stagedSecretHint === null) {
    refuseParam('id', 'invalid', 'This webhook has no new secret to activate. Rotate its secret with "staged" first.')
  }
  return { uuid }
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
  await disableEndpoint(db, workspaceId, uuid, trimmed, clock.now())
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

const requireRow = (row: WebhookRow | undefined): WebhookRow => row ?? refuse('not_found')

/** Checked settings. The senders are UUIDs; whether they exist is checked when they are saved. */
export interface CheckedInput {
  name: string
  url: string
  events: readonly string[]
  senders: readonly string[] | null
  ordering: Ordering
  /** Undefined: they stay as they are. */
  headers?: readonly HeaderInput[]
}

/**
 * Validates all fields and reports every error. It looks up the host of the URL, so do not call it in a transaction.
 * `currentHeaders` are the names of those whose values can stay.
 */
export async function checkInput(
  rules: TargetRules,
  input: Omit<WebhookInput, 'workspaceId'>,
  workspaceId: string,
  currentHeaders: readonly string[] = [],
): Promise<CheckedInput> {
  const name = input.name.trim()
  const errors: FieldError[] = textErrors('name', name, 100)
  const addError = (param: string, code: FieldErrorCode, message: string) => errors.push({ param, code, message })
  const url = URL.canParse(input.url) ? new URL(input.url) : null
  if (!url) addError('url', 'invalid', 'Enter a full URL, for example https://example.com/webhooks.')
  else if (input.url.length > 2000) errors.push(...textErrors('url', input.url, 2000))
  else {
    // A fragment is never sent to the server.
    url.hash = ''
    const problem = await targetProblem(rules, url, workspaceId)
    if (problem) addError('url', 'invalid', problem)
  }
  if (input.events.length === 0)
    addError('events', 'too_few', `Choose at least one event type: ${eventTypes.join(', ')}.`)
  for (const event of input.events) {
    if (!(eventTypes as readonly string[]).includes(event)) {
      addError('events', 'invalid', `"${event}" is not an event type. Choose from ${eventTypes.join(', ')}.`)
    }
  }
  const senders = toUuids(input.senders ?? null)
  if (senders && (senders.length === 0 || senders.length < (input.senders?.length ?? 0))) {
    addError('senders', 'invalid', 'Choose at least one sender by its ID, which begins with snd_, or all senders.')
  } else if (senders && senders.length > filterSendersMax) {
    addError('senders', 'too_many', `A filter has at most ${filterSendersMax} senders.`)
  }
  const ordering = input.ordering ?? 'none'
  if (!orderings.includes(ordering)) addError('ordering', 'invalid', `Choose one of ${orderings.join(', ')}.`)
  const headers = input.headers && toHeaders(input.headers)
  if (headers) errors.push(...headerErrors(headers, currentHeaders))
  if (errors.length > 0 || !url) refuseInvalid(errors)
  return {
    name,
    url: url.href,
    events: eventTypes.filter((event) => input.events.includes(event)),
    senders: senders && [...new Set(senders)],
    ordering,
    ...(headers && { headers }),
  }
}

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

/** What a change has changed, for the audit log: of headers only the names, also of those with a new value. */
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
