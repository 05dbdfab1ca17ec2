import { MadeWebhook, NewWebhook, WebhookChange } from '@parley/contract/console/webhooks'
import { WebhookId } from '@parley/contract/ids'
import { Webhook } from '@parley/contract/webhook'
import { Type } from 'typebox'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { changesOf } from '../../lib/changes.ts'
import type { SecretKeys } from '../../lib/seal.ts'
import type { TargetRules } from '../../lib/target-guard.ts'
import { checkWish, keepWebhook, requireWebhook, rotateWebhook, saveWebhook } from './webhooks.ts'

interface Deps {
  secretKeys(): SecretKeys
  targetRules: TargetRules
}

const ById = Type.Object({ id: WebhookId }, { additionalProperties: false })

/** What people do with endpoints alone. What also moves deliveries stands with those. */
export const webhookConsoleRoutes = ({ secretKeys, targetRules }: Deps): ConsoleRoute[] => [
  workspaceRoute({
    method: 'POST',
    path: '/webhooks',
    who: 'webhooks:manage',
    confirmed: true,
    body: NewWebhook,
    reply: MadeWebhook,
    status: 201,
    ownTransactions: true,
    async handle({ db, clock, workspaceId, audit }, { body }) {
      const checked = await checkWish(targetRules, body)
      return db.transaction(async (tx) => {
        const made = await keepWebhook(tx, clock, secretKeys(), workspaceId, checked)
        const { id, name, url, events } = made.webhook
        await audit({ action: 'webhook.create', target: id, targetName: name, after: { name, url, events } }, tx)
        return made
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
    async handle({ db, workspaceId, audit }, { params, body }) {
      const { uuid, webhook: before } = await requireWebhook(db, params.id, workspaceId)
      const { name, url, events } = before
      const checked = await checkWish(targetRules, { name, url, events, ...body })
      return db.transaction(async (tx) => {
        const after = await saveWebhook(tx, uuid, checked)
        const changed = changesOf({ name, url, events }, { name: after.name, url: after.url, events: after.events })
        await audit({ action: 'webhook.change', target: after.id, targetName: after.name, ...changed }, tx)
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
    reply: MadeWebhook,
    async handle({ db, workspaceId, audit }, { params }) {
      const { webhook: before } = await requireWebhook(db, params.id, workspaceId)
      const made = await rotateWebhook(db, secretKeys(), params.id)
      await audit({
        action: 'webhook.rotate',
        target: before.id,
        targetName: before.name,
        before: { secret_hint: before.secret_hint },
        after: { secret_hint: made.webhook.secret_hint },
      })
      return made
    },
  }),
]
