import { OperatedApp, OperatedConnection, SetupReport, SyncReport } from '@parley/contract/console/operator'
import { nullable, Uuid } from '@parley/contract/ids'
import { List } from '@parley/contract/page'
import { type Static, type TObject, Type } from 'typebox'
import { type ConsoleRoute, operatorRoute } from '../../http/console/route.ts'
import { ById, Strict } from '../../http/console/shapes.ts'
import { unpagedList } from '../../http/page.ts'
import { type App, createApp, ingressPath, listApps } from './apps.ts'
import { configure, type SetupResult } from './configure/configure.ts'
import type { SetupInput } from './configure/prepare.ts'
import { type Connection, createConnection, listConnections } from './connections.ts'
import type { Network } from './network.ts'
import { type SyncOutcome, syncConnection } from './sync.ts'

const Text = Type.String({ maxLength: 5000 })

const NewSetup = {
  workspace_id: Uuid,
  app_id: Text,
  app_secret: Text,
  access_token: Text,
  waba_id: Type.Optional(Text),
  graph_url: Type.Optional(Text),
}

/** Apps and connected accounts, for operators. */
export const connectionConsoleRoutes = ({
  network,
  publicUrl,
}: {
  network: Network
  publicUrl: string
}): ConsoleRoute[] => [
  operatorRoute({
    method: 'GET',
    path: '/operator/apps',
    reply: List(OperatedApp),
    handle: async ({ db }) => unpagedList((await listApps(db)).map((app) => toApp(app, publicUrl))),
  }),
  operatorRoute({
    method: 'POST',
    path: '/operator/apps',
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
  operatorRoute({
    method: 'GET',
    path: '/operator/connections',
    reply: List(OperatedConnection),
    handle: async ({ db }) => unpagedList((await listConnections(db)).map(toConnection)),
  }),
  operatorRoute({
    method: 'POST',
    path: '/operator/connections',
    confirmed: true,
    body: Strict({ workspace_id: Uuid, app_id: Uuid, waba_id: Text, access_token: Text }),
    // A remark says that the account keeps a callback of its own.
    reply: Type.Object({ connection: OperatedConnection, sync: SyncReport, remark: nullable(Type.String()) }),
    status: 201,
    ownTransactions: true,
    async handle({ audit }, { body }) {
      const { workspace_id: workspaceId, app_id: appId, waba_id: wabaId, access_token: accessToken } = body
      const input = { workspaceId, appId, wabaId, accessToken }
      const after = { app_id: appId, waba_id: wabaId }
      const { connection, sync, remark } = await createConnection(network, input, (tx, { id }) =>
        audit({ action: 'connection.create', target: id, targetName: wabaId, after, workspaceId }, tx),
      )
      return { connection: toConnection(connection), sync: toReport(sync), remark }
    },
  }),
  operatorRoute({
    method: 'POST',
    path: '/operator/setup/check',
    // It calls any URL.
    confirmed: true,
    unaudited: 'only reads what is there',
    body: Strict(NewSetup),
    reply: SetupReport,
    ownTransactions: true,
    handle: async (_context, { body }) =>
      toSetupReport(await configure(network, toSetup(body), { publicUrl, check: true })),
  }),
  operatorRoute({
    method: 'POST',
    path: '/operator/setup',
    confirmed: true,
    body: Strict({ ...NewSetup, replace_callback: Type.Boolean() }),
    reply: SetupReport,
    ownTransactions: true,
    async handle({ audit }, { body }) {
      const { workspace_id: workspaceId, app_id, replace_callback: replaceCallback } = body
      const entry = { action: 'app.configure', workspaceId }
      let isRecorded = false
      const result = await configure(network, toSetup(body), {
        publicUrl,
        replaceCallback,
        async audit(tx, { id, name }, after) {
          await audit({ ...entry, target: id, targetName: name, after }, tx)
          isRecorded = true
        },
      })
      // It stopped before the first change.
      if (!isRecorded) await audit({ ...entry, target: app_id, after: { meta_app_id: app_id, callbacks: 'kept' } })
      return toSetupReport(result)
    },
  }),
  operatorRoute({
    method: 'POST',
    path: '/operator/connections/:id/sync',
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

const toSetup = (body: Static<TObject<typeof NewSetup>>): SetupInput => ({
  app: { metaAppId: body.app_id, appSecret: body.app_secret, graphUrl: body.graph_url },
  accessToken: body.access_token,
  wabaId: body.waba_id,
  workspaceId: body.workspace_id,
})

const toSetupReport = ({ state, steps }: SetupResult): SetupReport => ({ state, steps })

/** An overtaken sync counts as successful: a later one has applied newer data. */
const toReport = (outcome: SyncOutcome): SyncReport =>
  outcome.kind === 'failed' ? { ok: false, why: outcome.why } : { ok: true, why: null }

const toApp = ({ id, name, graphUrl, metaAppId, createdAt }: App, publicUrl: string): OperatedApp => ({
  id,
  name,
  graph_url: graphUrl,
  meta_app_id: metaAppId,
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
