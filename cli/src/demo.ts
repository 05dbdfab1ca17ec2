import { scopes } from '@parley/contract/scopes'
import type { Config } from '@parley/server/config'
import { changeGraphUrl, createApp, ingressPath, listApps } from '@parley/server/domain/connections/apps'
import { createConnection } from '@parley/server/domain/connections/connections'
import { giveCredits } from '@parley/server/domain/credits/credits'
import { createKey } from '@parley/server/domain/keys/keys'
import { linkUrl, newSetupLink } from '@parley/server/domain/people/links'
import { createWorkspace, listWorkspaces } from '@parley/server/domain/workspaces/workspaces'
import { Refusal } from '@parley/server/lib/refuse'
import type { Service } from '@parley/server/start'
import type { Simulator } from '@parley/simulator/start'

export interface Demo {
  /** The key that is shown this once. */
  secret: string
  /** Where the first person makes their account. */
  setupUrl: string
  /** Why the workspace has no senders, if it should have some. */
  trouble: string | null
}

const demoCredits = 1_000

/** On the very first start: a demo workspace with a key, credits and, where there is a simulator, its senders and templates. */
export async function makeDemo(
  { runtime: { db, network } }: Service,
  simulator: Simulator | undefined,
  config: Config,
  address: string,
): Promise<Demo | undefined> {
  if (config.databaseUrl !== null || (await listWorkspaces(db)).length > 0) return undefined
  const { clock } = network
  const { workspaceId, ...shown } = await db.transaction(async (tx) => {
    const workspace = await createWorkspace(tx, clock, 'Demo')
    const input = { workspaceId: workspace.id, name: 'Demo key', scopes, createdBy: 'first start' }
    await giveCredits(tx, clock, workspace.id, demoCredits, 'first start')
    const setupUrl = linkUrl(address, await newSetupLink(tx, clock, workspace.id, 'first start'))
    return { workspaceId: workspace.id, secret: (await createKey(tx, clock, input)).secret, setupUrl }
  })
  if (!simulator) return { ...shown, trouble: null }
  const { control } = simulator
  const there = control.apps.list()[0]
  const token = control.tokens.list().find(({ appId }) => appId === there?.id)
  const wabaId = token?.wabaIds?.[0]
  if (!there || !token || !wabaId) return { ...shown, trouble: 'the simulator has no account to connect' }
  try {
    const app = await createApp(db, clock, config.secretKeys(), {
      name: 'Simulator',
      appSecret: there.secret,
      verifyToken: there.verifyToken,
      graphUrl: simulator.url,
    })
    const input = { workspaceId, appId: app.id, wabaId, accessToken: token.token }
    const { sync } = await createConnection(network, input)
    return { ...shown, trouble: sync.kind === 'failed' ? sync.why : null }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { ...shown, trouble: error.message }
  }
}

/**
 * The simulator is told where we listen, and our apps where it does, at every start: ports change. Its apps and ours are
 * the same when they share the secret. Returns what went wrong, in words.
 */
export async function introduce({ runtime: { db, network }, url }: Service, simulator: Simulator): Promise<string[]> {
  const troubles: string[] = []
  const apps = (await listApps(db)).filter(({ graphUrl }) => graphUrl.startsWith('http:'))
  for (const there of simulator.control.apps.list()) {
    const ours = []
    for (const app of apps) {
      const opened = await network.vault.openApp(app.id)
      if (opened?.appSecret !== there.secret) continue
      if (app.graphUrl !== simulator.url) await changeGraphUrl(db, app.id, simulator.url)
      ours.push(opened)
    }
    // An app has one callback: of several of ours the oldest gets what happens.
    const [first] = ours
    if (!first) continue
    const callback = { url: localUrl(url) + ingressPath(first.id), verifyToken: first.verifyToken }
    await simulator.control.apps
      .setCallback(there.id, callback)
      .catch((error: Error) => troubles.push(`The simulator cannot send to ${callback.url}: ${error.message}`))
  }
  return troubles
}

/** An address that this machine itself can call, whatever it listens on. */
const localUrl = (url: string): string => url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
