import {
  ConsoleWebhook,
  CreatedWebhook,
  DisableWebhook,
  NewWebhook,
  RotateWebhook,
  TestEventInput,
  TestSent,
  WebhookChange,
  WebhookEvents,
  WebhookFilters,
} from '@parley/contract/console/webhooks'
import { WebhookId } from '@parley/contract/ids'
import { List } from '@parley/contract/page'
import { Webhook } from '@parley/contract/webhook'
import { Type } from 'typebox'
import { csvRoute } from '../../http/console/list-routes.ts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { unpagedList } from '../../http/page.ts'
import type { SecretKeys } from '../../lib/seal.ts'
import type { TargetRules } from '../../net/target-guard.ts'
import { checkInput } from './check-input.ts'
import { exportEndpoints, filterEndpoints, getEndpoint, readEvents } from './endpoints.ts'
import { activateSecret, cancelRotation, rotateWebhook, stageRotation } from './rotation.ts'
import { sendTestEvent } from './test-event.ts'
import {
  changedState,
  checkChange,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  named,
  requireWebhook,
  saveNewWebhook,
  saveWebhook,
  settingsChanges,
  settingsOf,
} from './webhooks.ts'

interface Deps {
  secretKeys(): SecretKeys
  targetRules: TargetRules
}

const ById = Type.Object({ id: WebhookId }, { additionalProperties: false })

/** Creates, changes, tests, enables, disables and deletes endpoints. */
export const webhookConsoleRoutes = ({ secretKeys, targetRules }: Deps): ConsoleRoute[] => [
  workspaceRoute({
    method: 'POST',
    path: '/webhooks',
    who: 'webhooks:manage',
    confirmed: true,
    body: NewWebhook,
    reply: CreatedWebhook,
    status: 201,
    ownTransactions: true,
    async handle({ db, clock, workspaceId, audit }, { body }) {
      const checked = await checkInput(targetRules, body, workspaceId)
      return db.transaction(async (tx) => {
        const created = await saveNewWebhook(tx, clock, secretKeys(), workspaceId, checked)
        const { webhook } = created
        await audit({ action: 'webhook.create', ...named(webhook), after: settingsOf(webhook) }, tx)
        return created
      })
    },
  }),
  workspaceRoute({
    method: 'PATCH',
    path: '/webhooks/:id',
    who: 'webhooks:manage',
    params: ById,
    body: WebhookChange,
    reply: Webhook,
    ownTransactions: true,
    async handle({ db, clock, workspaceId, requireConfirmation, audit }, { params, body }) {
      const before = await requireWebhook(db, params.id, workspaceId)
      const checked = await checkChange(targetRules, before, body)
      // Another URL sends the messages of the workspace to someone else. Headers are secrets, like the signing secret.
      if (checked.url !== before.webhook.url || checked.headers) requireConfirmation()
      return db.transaction(async (tx) => {
        const after = await saveWebhook(tx, clock, secretKeys, before, checked)
        const changed = settingsChanges(before.webhook, after, checked)
        await audit({ action: 'webhook.change', ...named(after), ...changed }, tx)
        return after
      })
    },
  }),
  workspaceRoute({
    method: 'POST',
    path: '/webhooks/:id/rotate',
    who: 'webhooks:manage',
    confirmed: true,
    params: ById,
    body: RotateWebhook,
    reply: CreatedWebhook,
    async handle({ db, clock, workspaceId, audit }, { params, body }) {
      const { webhook: before } = await requireWebhook(db, params.id, workspaceId)
      if (body.staged) {
        const { webhook, secret, stagedSecretHint } = await stageRotation(db, secretKeys(), params.id)
        const after = { staged_secret_hint: stagedSecretHint }
        await audit({ action: 'webhook.stage_secret', ...named(before), after })
        return { webhook, secret }
      }
      const rotated = await rotateWebhook(db, clock, secretKeys(), params.id)
      await audit({ action: 'webhook.rotate', ...named(before), ...changedHint(before, rotated.webhook) })
      return rotated
    },
  }),
  workspaceRoute({
    method: 'POST',
    path: '/webhooks/:id/activate',
    who: 'webhooks:manage',
    confirmed: true,
    params: ById,
    reply: ConsoleWebhook,
    async handle({ db, clock, workspaceId, audit }, { params }) {
      const { webhook: before } = await requireWebhook(db, params.id, workspaceId)
      const after = await activateSecret(db, clock, params.id, workspaceId)
      await audit({ action: 'webhook.activate_secret', ...named(after), ...changedHint(before, after) })
      return getEndpoint(db, clock, workspaceId, params.id)
    },
  }),
  workspaceRoute({
    method: 'POST',
    path: '/webhooks/:id/cancel_rotation',
    who: 'webhooks:manage',
    params: ById,
    reply: ConsoleWebhook,
    async handle({ db, clock, workspaceId, audit }, { params }) {
      const { stagedSecretHint } = await requireWebhook(db, params.id, workspaceId)
      const webhook = await cancelRotation(db, params.id, workspaceId)
      const before = { staged_secret_hint: stagedSecretHint }
      await audit({ action: 'webhook.cancel_rotation', ...named(webhook), before })
      return getEndpoint(db, clock, workspaceId, params.id)
    },
  }),
  workspaceRoute({
    method: 'GET',
    path: '/webhooks',
    who: 'webhooks:read',
    mayLag: true,
    query: WebhookFilters,
    reply: List(ConsoleWebhook),
    handle: async ({ db, clock, workspaceId }, { query }) =>
      unpagedList(await filterEndpoints(db, clock, workspaceId, query)),
  }),
  csvRoute({
    path: '/webhooks',
    who: 'webhooks:read',
    query: WebhookFilters,
    lines: ({ db, clock, workspaceId }, filters) => exportEndpoints(db, clock, workspaceId, filters),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/webhooks/:id',
    who: 'webhooks:read',
    params: ById,
    reply: ConsoleWebhook,
    handle: ({ db, clock, workspaceId }, { params }) => getEndpoint(db, clock, workspaceId, params.id),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/webhooks/:id/events',
    who: 'webhooks:read',
    mayLag: true,
    params: ById,
    reply: WebhookEvents,
    handle: ({ db, clock, workspaceId }, { params }) => readEvents(db, clock, workspaceId, params.id),
  }),
  workspaceRoute({
    method: 'POST',
    path: '/webhooks/:id/enable',
    who: 'webhooks:enable',
    params: ById,
    reply: ConsoleWebhook,
    async handle({ db, clock, workspaceId, audit }, { params }) {
      const { webhook: before } = await requireWebhook(db, params.id, workspaceId)
      const after = await enableWebhook(db, clock, params.id, workspaceId)
      await audit({ action: 'webhook.enable', ...changedState(before, after) })
      return getEndpoint(db, clock, workspaceId, params.id)
    },
  }),
  workspaceRoute({
    method: 'POST',
    path: '/webhooks/:id/disable',
    who: 'webhooks:manage',
    params: ById,
    body: DisableWebhook,
    reply: ConsoleWebhook,
    async handle({ db, clock, workspaceId, audit }, { params, body }) {
      const { webhook: before } = await requireWebhook(db, params.id, workspaceId)
      const after = await disableWebhook(db, clock, params.id, body.reason, workspaceId)
      await audit({ action: 'webhook.disable', ...changedState(before, after) })
      return getEndpoint(db, clock, workspaceId, params.id)
    },
  }),
  workspaceRoute({
    method: 'DELETE',
    path: '/webhooks/:id',
    who: 'webhooks:manage',
    confirmed: true,
    params: ById,
    async handle({ db, clock, workspaceId, audit }, { params }) {
      const endpoint = await getEndpoint(db, clock, workspaceId, params.id)
      const { id, held, waiting } = endpoint
      await deleteWebhook(db, clock, id, workspaceId)
      const before = { ...settingsOf(endpoint), held: held.count, waiting: waiting.count }
      await audit({ action: 'webhook.delete', ...named(endpoint), before })
    },
  }),
  workspaceRoute({
    method: 'POST',
    path: '/webhooks/:id/test',
    who: 'webhooks:test',
    params: ById,
    body: TestEventInput,
    reply: TestSent,
    status: 202,
    async handle({ db, clock, workspaceId, audit }, { params, body }) {
      const eventId = await sendTestEvent(db, clock, params.id, body.type, workspaceId)
      await audit({ action: 'webhook.test', target: params.id, after: { type: body.type, event: eventId } })
      return { event_id: eventId }
    },
  }),
]

const changedHint = (before: Webhook, after: Webhook) => ({
  before: { secret_hint: before.secret_hint },
  after: { secret_hint: after.secret_hint },
})
