import { scopes } from '@parley/contract/scopes'
import type { Config } from '@parley/server/config'
import { changeGraphUrl, createApp, ingressPath, listApps } from '@parley/server/domain/connections/apps'
import { createConnection } from '@parley/server/domain/connections/connections'
import { giveCredits } from '@parley/server/domain/credits/credits'
import { createKey } from '@parley/server/domain/keys/keys'
import { linkUrl, newSetupLink } from '@parley/server/domain/people/links/links'
import { createWorkspace, listWorkspaces } from '@parley/server/domain/workspaces/workspaces'
import { Refusal } from '@parley/server/lib/refuse'
import type { Service } from '@parley/server/start'
import type { Simulator } from '@parley/simulator/start'

export interface Demo {
  workspaceId: string
  /** Secret of the demo API key, shown only once. */
  secret: string
  /** Link to create the first account. */
  setupUrl: string
  /** Why connecting the simulator's account failed. */
  problem: string | null
}

const demoCredits = 1_000

/** On the first start: creates a demo workspace with an API key, credits and the simulator's senders and templates. */
export async function createDemo(
  { runtime: { db, network } }: Service,
  simulator: Simulator | undefined,
  config: Config,
  address: string,
): Promise<Demo | undefined> {
  if (config.databaseUrl !== null || (await listWorkspaces(db)).length > 0) return undefined
  const { clock } = network
  const demo = await db.transaction(async (tx) => {
    const workspace = await createWorkspace(tx, clock, 'Demo')
    const input = { workspaceId: workspace.id, name: 'Demo key', scopes, createdBy: 'first start' }
    await giveCredits(tx, clock, workspace.id, demoCredits, 'first start')
    const setupUrl = linkUrl(address, await newSetupLink(tx, clock, workspace.id, 'first start'))
    return { workspaceId: workspace.id, secret: (await createKey(tx, clock, input)).secret, setupUrl }
  })
  if (!simulator) return { ...demo, problem: null }
  const { control } = simulator
  const simulated = control.apps.list()[0]
  const token = control.tokens.list().find(({ appId }) => appId === simulated?.id)
  const wabaId = token?.wabaIds?.[0]
  if (!simulated || !token || !wabaId) return { ...demo, problem: 'the simulator has no account to connect' }
  try {
    const app = await createApp(db, clock, config.secretKeys(), {
      name: 'Simulator',
      appSecret: simulated.secret,
      verifyToken: simulated.verifyToken,
      graphUrl: simulator.url,
      metaAppId: simulated.id,
    })
    const input = { workspaceId: demo.workspaceId, appId: app.id, wabaId, accessToken: token.token }
    const { sync } = await createConnection(network, input)
    return { ...demo, problem: sync.kind === 'failed' ? sync.why : null }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { ...demo, problem: error.message }
  }
}

/**
 * Ports can change between starts, so each start updates the callback URLs in the simulator and the Graph URLs of our
 * apps. An app here matches an app there if both have the same secret. Returns error messages.
 */
export async function linkSimulator(
  { runtime: { db, network }, url }: Service,
  simulator: Simulator,
): Promise<string[]> {
  const problems: string[] = []
  const apps = (await listApps(db)).filter(({ graphUrl }) => graphUrl.startsWith('http:'))
  for (const simulated of simulator.control.apps.list()) {
    const ours = []
    for (const app of apps) {
      const opened = await network.vault.openApp(app.id)
      if (opened?.appSecret !== simulated.secret) continue
      if (app.graphUrl !== simulator.url)
        await changeGraphUrl(db, app.id, simulator.url).catch((error: Error) =>
          problems.push(`The app ${app.name} keeps its Graph URL: ${error.message}`),
        )
      ours.push(opened)
    }
    // An app has one callback URL. If several of our apps match, the oldest one gets it.
    const [first] = ours
    if (!first) continue
    const callback = { url: localUrl(url) + ingressPath(first.id), verifyToken: first.verifyToken }
    await simulator.control.apps
      .setCallback(simulated.id, callback)
      .catch((error: Error) => problems.push(`The simulator cannot send to ${callback.url}: ${error.message}`))
  }
  return problems
}

/** A URL that works on this machine, even if the service listens on all addresses. */
export const localUrl = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
