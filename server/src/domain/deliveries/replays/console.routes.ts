import {
  ConsoleReplay,
  NewReplay,
  ReplayParams,
  ReplayPreviewInput,
  ReplaysOfWebhook,
} from '@parley/contract/console/replays'
import { Bounded } from '@parley/contract/console/webhooks'
import { List } from '@parley/contract/page'
import { type ConsoleRoute, workspaceRoute } from '../../../http/console/route.ts'
import { unpagedList } from '../../../http/page.ts'
import { cancelReplay, countReplayFor, getReplay, listReplays, previewReplay, startReplay } from './replays.ts'

/** Starts, shows and cancels replays of an endpoint. */
export const replayConsoleRoutes = (): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/webhooks/:id/replays',
    who: 'webhooks:read',
    params: ReplaysOfWebhook,
    reply: List(ConsoleReplay),
    handle: async ({ db, workspaceId }, { params }) => unpagedList(await listReplays(db, params.id, workspaceId)),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/webhooks/:id/replay_preview',
    who: 'webhooks:read',
    mayLag: true,
    params: ReplaysOfWebhook,
    query: ReplayPreviewInput,
    reply: Bounded,
    handle: ({ db, clock, workspaceId }, { params, query }) =>
      previewReplay(db, clock, params.id, { ...timesOf(query), only: query.only }, workspaceId),
  }),
  workspaceRoute({
    method: 'POST',
    path: '/webhooks/:id/replays',
    who: 'webhooks:manage',
    params: ReplaysOfWebhook,
    body: NewReplay,
    reply: ConsoleReplay,
    status: 201,
    ownTransactions: true,
    async handle({ db, clock, workspaceId, audit }, { params, body }) {
      const input = { ...body, ...timesOf(body) }
      const { id } = await db.transaction(async (tx) => {
        const { replay, webhookName } = await startReplay(tx, clock, params.id, input, workspaceId)
        const after = { replay: replay.id, ...body, rate: replay.rate }
        await audit({ action: 'webhook.replay', target: params.id, targetName: webhookName, after }, tx)
        return replay
      })
      return countReplayFor(db, id, workspaceId)
    },
  }),
  workspaceRoute({
    method: 'GET',
    path: '/replays/:id',
    who: 'webhooks:read',
    params: ReplayParams,
    reply: ConsoleReplay,
    handle: ({ db, workspaceId }, { params }) => getReplay(db, params.id, workspaceId),
  }),
  workspaceRoute({
    method: 'POST',
    path: '/replays/:id/cancel',
    who: 'webhooks:manage',
    params: ReplayParams,
    reply: ConsoleReplay,
    async handle({ db, clock, workspaceId, audit }, { params }) {
      const { replay, webhookName } = await cancelReplay(db, clock, params.id, workspaceId)
      await audit({
        action: 'webhook.cancel_replay',
        target: replay.webhook_id,
        targetName: webhookName,
        before: { replay: replay.id, state: 'running' },
        after: { state: replay.state, delivered: replay.delivered, failed: replay.failed, total: replay.total },
      })
      return replay
    },
  }),
]

const timesOf = ({ since, until }: { since: string; until?: string | undefined }) => ({
  since: new Date(since),
  until: until === undefined ? undefined : new Date(until),
})
