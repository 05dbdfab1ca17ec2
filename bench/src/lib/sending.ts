/** A service that sends messages to a simulated network, and delivers their events to a receiver. */
import { ingressPath } from '@parley/server/domain/connections/apps'
import type { NetworkLog, NetworkSettings } from '../targets/network.ts'
import { appSecret, keysInTurn, type Prepared, prepare } from './prepare.ts'
import type { Target } from './process.ts'
import type { Scope } from './scope.ts'

const workspaceCount = 20
/** Each key has a rate limit of 100 requests a minute; with this many keys none exceeds it. */
const keysEach = 40

/** The events of one message. The last one is of the reply to it. */
export const lifecycleEvents = ['message.sent', 'message.delivered', 'message.read', 'message.received'] as const

export interface Sending {
  target: Target
  network: Target
  receiver: Target
  /** The secrets of its API keys, for one message after the other. */
  keys: readonly string[]
  /** The signing secrets of its endpoints, by path. */
  secrets: Readonly<Record<string, string>>
}

/** An installation that is not started yet. */
export interface PreparedSending extends Omit<Sending, 'target'> {
  dataDir: string
  prepared: Prepared
}

/** Twenty workspaces, each with a number, an endpoint and keys. The paths of the endpoints begin with the name. */
export async function prepareSending(scope: Scope, receiver: Target, name: string): Promise<PreparedSending> {
  const dataDir = scope.newFolder()
  const network = await scope.startTarget('network')
  const paths = Array.from({ length: workspaceCount }, (_, index) => `/${name}/${index}`)
  const prepared = await prepare(dataDir, {
    hookUrls: paths.map((path) => `http://127.0.0.1:${receiver.port}${path}`),
    graphUrl: `http://127.0.0.1:${network.port}`,
    events: lifecycleEvents,
    keysEach,
  })
  const secrets = Object.fromEntries(paths.map((path, index) => [path, prepared.workspaces[index]?.hookSecret ?? '']))
  return { dataDir, prepared, network, receiver, keys: keysInTurn(prepared), secrets }
}

export async function startSending(scope: Scope, { dataDir, prepared, ...rest }: PreparedSending): Promise<Sending> {
  const target = await scope.startTarget('parley', dataDir)
  await connectNetwork(rest.network, target, prepared.appId)
  return { target, ...rest }
}

/** The network posts its webhooks to this service from now on. */
export async function connectNetwork(network: Target, target: { port: number }, appId: string): Promise<void> {
  const settings: NetworkSettings = { ingressUrl: `http://127.0.0.1:${target.port}${ingressPath(appId)}`, appSecret }
  await fetch(`http://127.0.0.1:${network.port}/`, { method: 'PUT', body: JSON.stringify(settings) })
}

/** What the network has received since it was last asked. */
export async function readNetworkLog(network: Target): Promise<NetworkLog> {
  return (await (await fetch(`http://127.0.0.1:${network.port}/`)).json()) as NetworkLog
}
