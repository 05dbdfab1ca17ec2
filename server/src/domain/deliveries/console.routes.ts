import {
  DeliveryBars,
  DeliveryBarsQuery,
  DeliveryDetail,
  DeliveryFilters,
  DeliveryList,
  DeliveryParams,
  DeliveryQuery,
  RetriedMatching,
  RetryInput,
  RetryMatchingInput,
} from '@parley/contract/console/deliveries'
import { RecoverInput, Retried } from '@parley/contract/console/webhooks'
import { WebhookId } from '@parley/contract/ids'
import { Type } from 'typebox'
import { csvRoute, totalRoute } from '../../http/console/list-routes.ts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { readDeliveryBars } from './reading/bars.ts'
import { getDelivery } from './reading/detail.ts'
import { exportDeliveries, listConsoleDeliveries, totalOfDeliveries } from './reading/list.ts'
import { retryDeliveries, retryDelivery, retryFailedSince } from './retry.ts'
import { retryMatching } from './retry-matching.ts'

/** Lists and inspects deliveries, and retries them. */
export const deliveryConsoleRoutes = (): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/deliveries',
    who: 'deliveries:read',
    mayLag: true,
    query: DeliveryQuery,
    reply: DeliveryList,
    handle: ({ db, workspaceId }, { query }) => listConsoleDeliveries(db, workspaceId, query),
  }),
  totalRoute({
    path: '/deliveries',
    who: 'deliveries:read',
    query: DeliveryFilters,
    total: ({ db, workspaceId }, filters) => totalOfDeliveries(db, workspaceId, filters),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/deliveries/bars',
    who: 'deliveries:read',
    mayLag: true,
    query: DeliveryBarsQuery,
    reply: DeliveryBars,
    handle: ({ db, clock, workspaceId }, { query }) => readDeliveryBars(db, clock.now(), workspaceId, query),
  }),
  csvRoute({
    path: '/deliveries',
    who: 'deliveries:read',
    query: DeliveryFilters,
    lines: ({ db, workspaceId }, filters) => exportDeliveries(db, workspaceId, filters),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/deliveries/:event/:webhook',
    who: 'deliveries:read',
    params: DeliveryParams,
    reply: DeliveryDetail,
    handle: ({ db, clock, workspaceId }, { params }) => getDelivery(db, clock, workspaceId, params),
  }),
  workspaceRoute({
    method: 'POST',
    path: '/deliveries/:event/:webhook/retry',
    who: 'deliveries:retry',
    params: DeliveryParams,
    reply: Retried,
    status: 202,
    async handle({ db, clock, workspaceId, audit }, { params }) {
      await retryDelivery(db, clock, params.webhook, params.event, workspaceId)
      await audit({ action: 'delivery.retry', target: params.event, after: { webhook: params.webhook } })
      return { retried: 1, more: false }
    },
  }),
  workspaceRoute({
    method: 'POST',
    path: '/deliveries/retry',
    who: 'deliveries:retry',
    body: RetryInput,
    reply: Retried,
    status: 202,
    async handle({ db, clock, workspaceId, audit }, { body }) {
      const requested = body.deliveries.map((each) => ({ webhookId: each.webhook_id, eventId: each.event_id }))
      const retried = await retryDeliveries(db, clock, workspaceId, requested)
      await audit({ action: 'delivery.retry_many', after: { asked: requested.length, retried } })
      return { retried, more: false }
    },
  }),
  workspaceRoute({
    method: 'POST',
    path: '/deliveries/retry_matching',
    who: 'deliveries:retry',
    body: RetryMatchingInput,
    reply: RetriedMatching,
    status: 202,
    async handle({ db, clock, workspaceId, audit }, { body }) {
      const result = await retryMatching(db, clock, workspaceId, body)
      await audit({ action: 'delivery.retry_many', after: { filters: body.filters, retried: result.retried } })
      return result
    },
  }),
  workspaceRoute({
    method: 'POST',
    path: '/webhooks/:id/recover',
    who: 'deliveries:retry',
    params: Type.Object({ id: WebhookId }, { additionalProperties: false }),
    body: RecoverInput,
    reply: Retried,
    status: 202,
    async handle({ db, clock, workspaceId, audit }, { params, body }) {
      const { count: retried, more } = await retryFailedSince(db, clock, params.id, new Date(body.since), workspaceId)
      await audit({ action: 'webhook.recover', target: params.id, after: { since: body.since, retried, more } })
      return { retried, more }
    },
  }),
]
