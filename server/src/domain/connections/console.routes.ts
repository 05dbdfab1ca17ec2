import { OperatedApp, OperatedConnection, SyncReport } from '@parley/contract/console/operator'
import { Uuid } from '@parley/contract/ids'
import { List } from '@parley/contract/page'
import { Type } from 'typebox'
import { type ConsoleRoute, personRoute } from '../../http/console/route.ts'
import { ById, Strict } from '../../http/console/shapes.ts'
import { unpagedList } from '../../http/page.ts'
import { type App, createApp, ingressPath, listApps } from './apps.ts'
import { type Connection, createConnection, listConnections } from './connections.ts'
import type { Network } from './network.ts'
import { type SyncOutcome, syncConnection } from './sync.ts'

const Text = Type.String({ maxLength: 5000 })

/** Apps and connected accounts, for operators. */
export const connectionConsoleRoutes = ({
  network,
  publicUrl,
}: {
  network: Network
  publicUrl: string
}): ConsoleRoute[] => [
  personRoute({
    method: 'GET',
    path: '/operator/apps',
    who: 'operator',
    reply: List(OperatedApp),
    handle: async ({ db }) => unpagedList((await listApps(db)).map((app) => toApp(app, publicUrl))),
  }),
  personRoute({
    method: 'POST',
    path: '/operator/apps',
    who: 'operator',
    confirmed: true,
    body: Strict({ name: Text, app_secret: Text, verify_token: Text, graph_url: Type.Optional(Text) }),
    reply: OperatedApp,
    status: 201,
    async handle({ db, clock, audit }, { body }) {
      const { name, app_secret: appSecret, verify_token: verifyToken, graph_url: graphUrl } = body
      const app = await createApp(db, clock, network.secretKeys, { name, appSecret, verifyToken, graphUrl })
      await audit({ action: 'app.create', target: app.id, targetName: app.name, after: { graph_url: app.graphUrl } })
      return toApp(app, publicUrl)
    },
  }),
  personRoute({
    method: 'GET',
    path: '/operator/connections',
    who: 'operator',
    reply: List(OperatedConnection),
    handle: async ({ db }) => unpagedList((await listConnections(db)).map(toConnection)),
  }),
  personRoute({
    method: 'POST',
    path: '/operator/connections',
    who: 'operator',
    confirmed: true,
    body: Strict({ workspace_id: Uuid, app_id: Uuid, waba_id: Text, access_token: Text }),
    reply: Type.Object({ connection: OperatedConnection, sync: SyncReport }),
    status: 201,
    ownTransactions: true,
    async handle({ audit }, { body }) {
      const { workspace_id: workspaceId, app_id: appId, waba_id: wabaId, access_token: accessToken } = body
      const input = { workspaceId, appId, wabaId, accessToken }
      const after = { app_id: appId, waba_id: wabaId }
      const { connection, sync } = await createConnection(network, input, (tx, { id }) =>
        audit({ action: 'connection.create', target: id, targetName: wabaId, after, workspaceId }, tx),
      )
      return { connection: toConnection(connection), sync: toReport(sync) }
    },
  }),
  personRoute({
    method: 'POST',
    path: '/operator/connections/:id/sync',
    who: 'operator',
    params: ById,
    reply: SyncReport,
    ownTransactions: true,
    async handle({ audit }, { params }) {
      const report = toReport(await syncConnection(network, params.id))
      await audit({ action: 'connection.sync', target: params.id, after: { ok: report.ok } })
      return report
    },
  }),
]

/** An overtaken sync counts as successful: a later one has applied newer data. */
const toReport = (outcome: SyncOutcome): SyncReport =>
  outcome.kind === 'failed' ? { ok: false, why: outcome.why } : { ok: true, why: null }

const toApp = ({ id, name, graphUrl, createdAt }: App, publicUrl: string): OperatedApp => ({
  id,
  name,
  graph_url: graphUrl,
  callback_url: publicUrl + ingressPath(id),
  created_at: createdAt.toISOString(),
})

const toConnection = (each: Connection): OperatedConnection => ({
  id: each.id,
  workspace_id: each.workspaceId,
  app_id: each.appId,
  waba_id: each.wabaId,
  created_at: each.createdAt.toISOString(),
  synced_at: each.syncedAt?.toISOString() ?? null,
  sync_error: each.syncError,
  sync_due_at: each.syncDueAt.toISOString(),
})
