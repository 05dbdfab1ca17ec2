/** What `--fix` does: only repairs that cannot make anything worse, and that change nothing if they are repeated. */

import type { CallFailure } from '../../whatsapp/graph/call.ts'
import type { GraphAccess } from '../../whatsapp/graph/client.ts'
import { requireApp } from '../connections/apps.ts'
import { isCallbackOf, tokenOfApp, webhookFields } from '../connections/configure/inspect.ts'
import { subscribeOffered } from '../connections/configure/subscribe.ts'
import { ensureSubscribed, requireConnection } from '../connections/connections.ts'
import { describeFailure } from '../connections/describe-failure.ts'
import type { Network } from '../connections/network.ts'
import { syncConnection } from '../connections/sync.ts'
import type { Fix, Station } from '../health/station.ts'

export interface AppliedFix {
  fix: Fix
  /** What was done, or why it failed. */
  message: string
  ok: boolean
}

export const fixesOf = (stations: readonly Station[]): Fix[] => [
  ...new Map(stations.flatMap(({ fix }) => (fix ? [[`${fix.kind} ${fix.connectionId}`, fix]] : []))).values(),
]

export async function applyFix(network: Network, publicUrl: string, fix: Fix): Promise<AppliedFix> {
  const { db, client, vault } = network
  const { id, wabaId, appId } = await requireConnection(db, fix.connectionId)
  if (fix.kind === 'sync') {
    const outcome = await syncConnection(network, id)
    const ok = outcome.kind !== 'failed'
    return { fix, ok, message: ok ? `Synced account ${wabaId}.` : `Syncing account ${wabaId} failed: ${outcome.why}` }
  }
  const access = await vault.accessFor(id)
  const secrets = await vault.openApp(appId)
  if (!access || !secrets) throw new Error(`connection ${id} not found`)
  const app = await requireApp(db, appId)
  const metaAppId = app.metaAppId ?? (await ownerOf(network, access))
  if (fix.kind === 'subscribe_app') {
    const outcome = await ensureSubscribed(network, access, { appId, metaAppId, wabaId })
    if (outcome.kind !== 'ok') return refused(fix, outcome, access)
    return { fix, ok: outcome.value === null, message: outcome.value ?? `Subscribed the app to account ${wabaId}.` }
  }
  if (metaAppId === null) return { fix, ok: false, message: 'Meta does not say which app the access token belongs to.' }
  const asApp = tokenOfApp({ ...access, metaAppId, appSecret: secrets.appSecret })
  // Subscribing replaces the callback and all fields, so it needs the current ones.
  const current = await client.readSubscription(asApp, metaAppId)
  if (current.kind !== 'ok') return refused(fix, current, asApp)
  const { callbackUrl = '', fields = [] } = current.value ?? {}
  if (!isCallbackOf(app, publicUrl, callbackUrl)) {
    return { fix, ok: false, message: 'The app has another callback URL. Nothing was changed.' }
  }
  const outcome = await subscribeOffered(client, asApp, metaAppId, {
    callbackUrl,
    verifyToken: secrets.verifyToken,
    fields: [...new Set([...fields, ...webhookFields])],
  })
  if (outcome.kind !== 'ok') return refused(fix, outcome, asApp)
  const which = outcome.value.length === 0 ? 'all webhook fields' : 'all webhook fields that Meta offers it'
  return { fix, ok: true, message: `Subscribed the app to ${which}.` }
}

async function ownerOf({ client }: Network, access: GraphAccess): Promise<string | null> {
  const token = await client.inspectToken(access, access.accessToken)
  return token.kind === 'ok' ? token.value.metaAppId : null
}

const refused = (fix: Fix, outcome: CallFailure, access: GraphAccess): AppliedFix => ({
  fix,
  ok: false,
  message: `Meta refused the change: ${describeFailure(outcome, access)}`,
})
