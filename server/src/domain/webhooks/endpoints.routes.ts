import {
  ConsoleWebhook,
  DisableWebhook,
  RecoverWish,
  Retried,
  TestSent,
  TestWish,
} from '@parley/contract/console/webhooks'
import { WebhookId } from '@parley/contract/ids'
import { List } from '@parley/contract/page'
import { Type } from 'typebox'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { wholeList } from '../../http/page.ts'
import { getEndpoint, listEndpoints } from './endpoints.ts'
import { deleteWebhook, disableWebhook, enableWebhook } from '../deliveries/engine/hold.ts'
import { retryFailedSince, sendTestEvent } from '../deliveries/retry.ts'

const ById = Type.Object({ id: WebhookId }, { additionalProperties: false })

/** Endpoints with how they fare, and what people do with them that moves deliveries. */
export const endpointConsoleRoutes = (): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/webhooks',
    who: 'webhooks:read',
    reply: List(ConsoleWebhook),
    handle: async ({ db, clock, workspaceId }) => wholeList(await listEndpoints(db, clock, workspaceId)),
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
    method: 'POST',
    path: '/webhooks/:id/enable',
    who: 'webhooks:manage',
    params: ById,
    reply: ConsoleWebhook,
    async handle({ db, clock, workspaceId, audit }, { params }) {
      const before = await getEndpoint(db, clock, workspaceId, params.id)
      await enableWebhook(db, clock, params.id, workspaceId)
      await audit({
        action: 'webhook.enable',
        target: before.id,
        targetName: before.name,
        before: { enabled: before.enabled, disabled_reason: before.disabled_reason },
        after: { enabled: true, disabled_reason: null },
      })
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
      const before = await getEndpoint(db, clock, workspaceId, params.id)
      const { disabled_reason } = await disableWebhook(db, params.id, body.reason, workspaceId)
      await audit({
        action: 'webhook.disable',
        target: before.id,
        targetName: before.name,
        before: { enabled: before.enabled, disabled_reason: before.disabled_reason },
        after: { enabled: false, disabled_reason },
      })
      return getEndpoint(db, clock, workspaceId, params.id)
    },
  }),
  workspaceRoute({
    method: 'DELETE',
    path: '/webhooks/:id',
    who: 'webhooks:manage',
    confirmed: true,
    params: ById,
    reply: Type.Null(),
    status: 204,
    async handle({ db, clock, workspaceId, audit }, { params }) {
      const { id, name, url, events, held, waiting } = await getEndpoint(db, clock, workspaceId, params.id)
      await deleteWebhook(db, clock, id, workspaceId)
      const before = { name, url, events, held: held.count, waiting: waiting.count }
      await audit({ action: 'webhook.delete', target: id, targetName: name, before })
      return null
    },
  }),
  workspaceRoute({
    method: 'POST',
    path: '/webhooks/:id/test',
    who: 'webhooks:test',
    params: ById,
    body: TestWish,
    reply: TestSent,
    status: 202,
    async handle({ db, clock, workspaceId, audit }, { params, body }) {
      const eventId = await sendTestEvent(db, clock, params.id, body.type, workspaceId)
      await audit({ action: 'webhook.test', target: params.id, after: { type: body.type, event: eventId } })
      return { event_id: eventId }
    },
  }),
  workspaceRoute({
    method: 'POST',
    path: '/webhooks/:id/recover',
    who: 'deliveries:retry',
    params: ById,
    body: RecoverWish,
    reply: Retried,
    status: 202,
    async handle({ db, clock, workspaceId, audit }, { params, body }) {
      const retried = await retryFailedSince(db, clock, params.id, new Date(body.since), workspaceId)
      await audit({ action: 'webhook.recover', target: params.id, after: { since: body.since, retried } })
      return { retried }
    },
  }),
]
