import { OperatorTestResult } from '@parley/contract/console/operator'
import { TestSent } from '@parley/contract/console/webhooks'
import { Uuid, WebhookId } from '@parley/contract/ids'
import { Type } from 'typebox'
import { type ConsoleRoute, operatorRoute } from '../../http/console/route.ts'
import { firstAttemptOfTest, sendTestEvent } from './test-event.ts'
import { changedState, enableWebhook, named, requireWebhook } from './webhooks.ts'

const ById = Type.Object({ id: WebhookId }, { additionalProperties: false })
const OfTest = Type.Object({ id: WebhookId, event: Uuid }, { additionalProperties: false })

/** What the health page offers for the webhooks of all workspaces. The command line offers it too. */
export const operatorWebhookRoutes = (): ConsoleRoute[] => [
  operatorRoute({
    method: 'POST',
    path: '/operator/webhooks/:id/enable',
    params: ById,
    async handle({ db, clock, audit }, { params }) {
      const { workspaceId, webhook } = await requireWebhook(db, params.id)
      const enabled = await enableWebhook(db, clock, params.id)
      await audit({ action: 'webhook.enable', ...changedState(webhook, enabled), workspaceId })
    },
  }),
  operatorRoute({
    method: 'POST',
    path: '/operator/webhooks/:id/test',
    params: ById,
    reply: TestSent,
    status: 202,
    async handle({ db, clock, audit }, { params }) {
      const { workspaceId, webhook } = await requireWebhook(db, params.id)
      const event = await sendTestEvent(db, clock, params.id)
      await audit({ action: 'webhook.test', ...named(webhook), after: { event }, workspaceId })
      return { event_id: event }
    },
  }),
  operatorRoute({
    method: 'GET',
    path: '/operator/webhooks/:id/tests/:event',
    params: OfTest,
    reply: OperatorTestResult,
    async handle({ db, clock }, { params: { id, event } }) {
      const first = await firstAttemptOfTest(db, clock, id, event)
      return {
        attempt: first ? { status: first.status, duration_ms: first.duration_ms, trouble: first.trouble } : null,
      }
    },
  }),
]
