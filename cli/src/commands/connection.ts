import { recordAuditEntry } from '@parley/server/domain/audit/audit'
import { requireApp } from '@parley/server/domain/connections/apps'
import {
  type AuditChange,
  type Connection,
  createConnection,
  listConnections,
  requireConnection,
} from '@parley/server/domain/connections/connections'
import { replaceAccessToken } from '@parley/server/domain/connections/replace-secrets'
import { type SyncOutcome, syncConnection } from '@parley/server/domain/connections/sync'
import { StartupError } from '@parley/server/lib/refuse'
import { change, commandLine } from '../audit.ts'
import { type Call, type Command, UsageError } from '../command.ts'
import { formatTime, plural } from '../format.ts'
import { readSecret } from '../read-secret.ts'
import { runSetup, setupOptions } from '../run-setup.ts'
import { jsonList, table } from '../table.ts'
import { withNetwork } from '../with-network.ts'
import { readWorkspace, readWorkspaceFilter, workspaceFilter, workspaceOption } from '../workspace-option.ts'

export const accessToken = {
  value: 'TOKEN',
  variable: 'PARLEY_ACCESS_TOKEN',
  help: 'Access token of a system user with access to the account',
}

export const commands: readonly Command[] = [
  {
    name: 'connection create',
    details:
      'Fetches the senders and templates of the account. If the app was created with --app-id, it also sets up what is missing at Meta.',
    options: {
      workspace: workspaceOption('Workspace that gets the senders and templates'),
      app: { value: 'ID', idOf: 'app', required: true, help: 'Meta app of the account, see "./parley app list"' },
      'waba-id': { value: 'ID', required: true, help: 'Account ID (WABA ID), from Meta’s WhatsApp Manager' },
      'access-token': accessToken,
      ...setupOptions,
    },
    examples: ['connection create --workspace ID --app ID --waba-id 102290129340398 --access-token -'],
    async run(call) {
      const { option } = call
      const token = await readSecret(call, 'access-token', accessToken)
      const { id: workspaceId } = await readWorkspace(call)
      const app = await requireApp(await call.db(), option('app') ?? '')
      if (app.metaAppId !== null)
        return runSetup(call, { app, accessToken: token, wabaId: option('waba-id'), workspaceId })
      for (const name of Object.keys(setupOptions)) {
        if (call.flag(name)) throw new UsageError(`--${name} needs an app that was created with --app-id.`)
      }
      return withNetwork(call, async (network) => {
        const input = {
          workspaceId,
          appId: option('app') ?? '',
          wabaId: option('waba-id') ?? '',
          accessToken: token,
        }
        const after = { app_id: input.appId, waba_id: input.wabaId }
        const audit = auditing(call, 'connection.create', after)
        const { connection, sync, remark } = await createConnection(network, input, audit)
        const lines = [`Created connection ${connection.id}.`, ...linesOf(sync), ...(remark ? [remark] : [])]
        return { lines, json: { ...toJson(connection), ...countsOf(sync) } }
      })
    },
  },
  {
    name: 'connection change',
    details: 'The old token stays in use until WhatsApp accepts the new one.',
    args: ['ID'],
    idOf: 'connection',
    options: { 'access-token': accessToken },
    examples: ['connection change ID --access-token -'],
    async run(call) {
      const token = await readSecret(call, 'access-token', accessToken)
      return withNetwork(call, async (network) => {
        const { connection, sync, remark } = await replaceAccessToken(
          network,
          call.args[0] ?? '',
          token,
          auditing(call, 'connection.change', { access_token: 'replaced' }),
        )
        const done = `Updated the access token of connection ${connection.id}.`
        const lines = [done, ...linesOf(sync), ...(remark ? [remark] : [])]
        return { lines, json: { ...toJson(connection), ...countsOf(sync) } }
      })
    },
  },
  {
    name: 'connection sync',
    args: ['ID'],
    idOf: 'connection',
    examples: ['connection sync ID'],
    run: (call) =>
      withNetwork(call, async (network) => {
        const id = call.args[0] ?? ''
        const sync = await syncConnection(network, id)
        const after = { ok: sync.kind !== 'failed' }
        await change(call, (_tx, audit) => audit({ action: 'connection.sync', workspaceId: null, target: id, after }))
        if (sync.kind === 'failed') throw new StartupError(`Sync failed, nothing was changed. ${sync.why}`)
        const connection = await requireConnection(network.db, id)
        return { lines: linesOf(sync), json: { ...toJson(connection), ...countsOf(sync) } }
      }),
  },
  {
    name: 'connection list',
    options: { workspace: workspaceFilter },
    examples: ['connection list --workspace "Acme"'],
    async run(call) {
      const workspace = await readWorkspaceFilter(call)
      const connections = await listConnections(await call.db(), workspace?.id)
      const rows = connections.map((connection) => [
        connection.id,
        connection.wabaId,
        connection.workspaceId,
        connection.appId,
        connection.syncedAt ? formatTime(connection.syncedAt) : 'never',
        connection.syncError ?? '',
      ])
      const headings = ['ID', 'WABA ID', 'WORKSPACE', 'APP', 'LAST SYNC', 'LAST ERROR']
      const empty =
        'No connections yet. Create one with: ./parley connection create --workspace ID --app ID --waba-id ID'
      const lines = table(headings, rows, empty)
      return { lines, json: jsonList(connections.map(toJson)) }
    },
  },
]

const auditing =
  ({ clock }: Call, action: string, after: Record<string, unknown>): AuditChange =>
  (db, { id, workspaceId, wabaId }) =>
    recordAuditEntry(db, clock, commandLine, { action, workspaceId, target: id, targetName: wabaId, after })

function linesOf(sync: SyncOutcome): string[] {
  switch (sync.kind) {
    case 'synced':
      return [
        `Synced ${plural(sync.senders, 'sender')} and ${plural(sync.templates, 'template')}.`,
        ...(sync.remark ? [sync.remark] : []),
      ]
    case 'failed':
      return [`Could not fetch the senders and templates: ${sync.why}`, 'The service retries automatically.']
    case 'overtaken':
      return ['Another sync finished first. Nothing left to do.']
  }
}

const countsOf = (sync: SyncOutcome) =>
  sync.kind === 'synced' ? { senders: sync.senders, templates: sync.templates } : {}

const toJson = (connection: Connection) => ({
  id: connection.id,
  account_id: connection.workspaceId,
  app_id: connection.appId,
  waba_id: connection.wabaId,
  created_at: connection.createdAt.toISOString(),
  status: connection.status,
  status_reason: connection.statusReason,
  synced_at: connection.syncedAt?.toISOString() ?? null,
  sync_error: connection.syncError,
  sync_due_at: connection.syncDueAt.toISOString(),
})
