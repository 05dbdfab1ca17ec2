import { version } from '@parley/server/config'
import {
  type Connection,
  createConnection,
  listConnections,
  requireConnection,
} from '@parley/server/domain/connections/connections'
import { type Network, newNetwork } from '@parley/server/domain/connections/network'
import { replaceAccessToken } from '@parley/server/domain/connections/replace-secrets'
import { type SyncOutcome, syncConnection } from '@parley/server/domain/connections/sync'
import { requireWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { StartupError } from '@parley/server/lib/refuse'
import type { Call, Command } from '../command.ts'
import { newProgress } from '../progress.ts'
import { readSecret } from '../secret.ts'
import { jsonList, table } from '../table.ts'

const accessToken = {
  value: 'T',
  variable: 'PARLEY_ACCESS_TOKEN',
  help: 'a system user’s token that may use the account',
}

export const connectionCommands: readonly Command[] = [
  {
    name: 'connection create',
    summary: 'Connect a WhatsApp business account, with its senders and templates',
    options: {
      workspace: { value: 'ID', required: true, help: 'whose senders and templates they are to be' },
      app: { value: 'ID', required: true, help: 'through which app (parley app list)' },
      'waba-id': { value: 'W', required: true, help: 'the account’s id, from Meta’s WhatsApp Manager' },
      'access-token': accessToken,
    },
    async run(call) {
      const { option } = call
      const token = await readSecret(call, 'access-token', accessToken)
      return speaking(call, async (network) => {
        const { connection, sync } = await createConnection(network, {
          workspaceId: option('workspace') ?? '',
          appId: option('app') ?? '',
          wabaId: option('waba-id') ?? '',
          accessToken: token,
        })
        const lines = [`Connection ${connection.id} made.`, ...linesOf(sync)]
        return { lines, json: { ...toJson(connection), ...countsOf(sync) } }
      })
    },
  },
  {
    name: 'connection change',
    summary: 'Give a connection a new access token; the old one is used until the network takes the new one',
    args: ['ID'],
    options: { 'access-token': accessToken },
    async run(call) {
      const token = await readSecret(call, 'access-token', accessToken)
      return speaking(call, async (network) => {
        const { connection, sync } = await replaceAccessToken(network, call.args[0] ?? '', token)
        const lines = [`Connection ${connection.id} has a new token.`, ...linesOf(sync)]
        return { lines, json: { ...toJson(connection), ...countsOf(sync) } }
      })
    },
  },
  {
    name: 'connection sync',
    summary: 'Fetch a connection’s senders and templates from the network now',
    args: ['ID'],
    run: (call) =>
      speaking(call, async (network) => {
        const id = call.args[0] ?? ''
        const sync = await syncConnection(network, id)
        if (sync.kind === 'failed') throw new StartupError(`Nothing was changed. ${sync.why}`)
        const connection = await requireConnection(network.db, id)
        return { lines: linesOf(sync), json: { ...toJson(connection), ...countsOf(sync) } }
      }),
  },
  {
    name: 'connection list',
    summary: 'Show the connected accounts and when each was last synchronised',
    options: { workspace: { value: 'ID', help: 'only this workspace’s' } },
    async run({ db, option }) {
      const workspaceId = option('workspace')
      if (workspaceId) await requireWorkspace(await db(), workspaceId)
      const connections = await listConnections(await db(), workspaceId)
      const rows = connections.map((connection) => [
        connection.id,
        connection.wabaId,
        connection.workspaceId,
        connection.appId,
        connection.syncedAt?.toISOString() ?? 'never',
        connection.syncError ?? '',
      ])
      const headings = ['ID', 'WABA', 'WORKSPACE', 'APP', 'SYNCHRONISED', 'LAST ERROR']
      const lines = table(headings, rows, 'There is no connection yet.')
      return { lines, json: jsonList(connections.map(toJson)) }
    },
  },
]

async function speaking<T>({ db, clock, config }: Call, work: (network: Network) => Promise<T>): Promise<T> {
  // Loaded here, for the other commands do not speak with the network.
  const { GraphClient } = await import('@parley/server/whatsapp/client')
  const client = new GraphClient({ productVersion: version })
  const progress = newProgress()
  progress.say('Speaking with the network')
  try {
    return await work(newNetwork({ db: await db(), clock, secretKeys: config.secretKeys(), client }))
  } finally {
    progress.end()
    await client.close()
  }
}

function linesOf(sync: SyncOutcome): string[] {
  switch (sync.kind) {
    case 'synced':
      return [`It has ${sync.senders} senders and ${sync.templates} templates.`, ...(sync.remark ? [sync.remark] : [])]
    case 'failed':
      return [`Its senders and templates could not be fetched yet: ${sync.why}`, 'The service tries again by itself.']
    case 'overtaken':
      return ['Another synchronisation was faster; nothing was left to do.']
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
  synced_at: connection.syncedAt?.toISOString() ?? null,
  sync_error: connection.syncError,
  sync_due_at: connection.syncDueAt.toISOString(),
})
